import type { Answer } from './answer.js';
import type { Random } from './random.js';
import type { RawOptions, RawOutcome } from './raw-exchange.js';
import type { Sent } from './request.js';
import type { World } from './world.js';

/** One case of a part: what it may draw from, and its ways to the product. Every answer is judged on the way back. */
export interface Case {
  readonly index: number;
  readonly random: Random;
  readonly world: World;
  /** Sends on a kept connection. Throws a finding if the answer breaks a rule that holds for all. */
  send(sent: Sent): Promise<Answer>;
  /** Sends a request of a caller with JSON. */
  call(key: string | undefined, method: string, target: string, body?: string): Promise<Answer>;
  /** Sends several at once, one behind the other on the same connection, and judges each. */
  sendAll(list: readonly Sent[]): Promise<readonly Answer[]>;
  /** Puts bytes on a connection of their own. */
  raw(options: Omit<RawOptions, 'port'>): Promise<RawOutcome>;
  /** Throws a finding unless the claim holds. */
  check(claim: boolean, otherwise: string): void;
  /** Counts requests that were sent past `send` and `raw`. */
  count(requests: number): void;
}

export interface Part {
  readonly name: string;
  readonly about: string;
  /** Cases in the short and in the long form; a case is one request or several. */
  readonly cases: { readonly short: number; readonly long: number };
  /** Cases at a time. */
  readonly width: number;
  /** Waits more than it works, and so runs beside the others. */
  readonly isBeside?: true;
  readonly run: (one: Case) => Promise<void>;
}

/** Each case is one of these, by chance; what is named more than once comes more often. */
export function oneOf(...acts: readonly Part['run'][]): Part['run'] {
  return (one) => one.random.pick(acts)(one);
}

/** A rule that was broken. */
export class Finding extends Error {}
