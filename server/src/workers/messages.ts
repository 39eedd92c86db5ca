import type { ExitCode } from '../kernel/exit.js';
import type { CountAnswer, CountAsk } from '../limits/counting-desk.js';

/** Where a worker finds what the keeper has opened. Holds no secret: those come from the settings, as everywhere. */
export interface Order {
  /** From 1. A worker that takes the place of a dead one has its number. */
  readonly slot: number;
  readonly of: number;
  readonly port: number;
  /** The embedded server; undefined where the settings name one by address. */
  readonly server:
    | { readonly socketDir: string; readonly port: number; readonly user: string; readonly database: string }
    | undefined;
}

/** Why a worker could not start, for the operator. */
export interface Failure {
  readonly exitCode: ExitCode;
  readonly message: string;
}

export type ToWorker =
  | { readonly kind: 'start'; readonly order: Order }
  /** Everything that can fail has been done: /readyz may say yes. */
  | { readonly kind: 'open' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'scrape'; readonly id: number }
  | { readonly kind: 'counted'; readonly id: number; readonly answers: readonly CountAnswer[] };

export type ToKeeper =
  /** Listens for its order: what is sent to a process before that is lost. */
  | { readonly kind: 'here' }
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'failed'; readonly failure: Failure }
  /** The last ones have no number: nobody asked. */
  | { readonly kind: 'figures'; readonly id: number | undefined; readonly text: string }
  | { readonly kind: 'count'; readonly id: number; readonly asks: readonly CountAsk[] };
