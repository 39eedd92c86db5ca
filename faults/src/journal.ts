import type { WriteStream } from 'node:fs';
import { createWriteStream } from 'node:fs';

/**
 * - `acknowledged`: the answer says it is done.
 * - `refused`: the answer says nothing was done, or the request cannot have arrived.
 * - `unknown`: anything else.
 */
export type Outcome = 'acknowledged' | 'refused' | 'unknown';

export interface Attempt {
  /** Sent as the trace id, which the audit log repeats: the entries of an attempt are found by it. */
  readonly trace: string;
  readonly node: number;
  readonly startedMs: number;
  endedMs: number;
  outcome: Outcome | 'pending';
  /** Status and code, or how the connection was lost. */
  note: string;
  body?: unknown;
  isReused?: boolean;
}

/** An entry of the audit log that an operation leaves. Without an id where only the server knows it. */
export interface ExpectedEntry {
  readonly operation: string;
  readonly entityType: string;
  readonly entityId?: string;
}

/** What an entity is after an operation; undefined once it is deleted. */
export interface State {
  readonly data?: string;
  readonly name?: string;
  readonly containers?: readonly string[];
  readonly permissions?: readonly string[];
}

/** A token, an application or the tenant itself. One worker alone changes it, one step after the other. */
export interface Entity {
  readonly kind: 'token' | 'application' | 'tenant';
  readonly tenant: number;
  id: string | undefined;
  /** Stands in its metadata or name, so that it is found without its id. */
  readonly mark: string;
  readonly steps: { readonly operation: Operation; readonly state: State | undefined }[];
  /** An unknown outcome ends its history: what is on its way may still arrive, and nobody could tell the order. */
  isRetired: boolean;
}

export interface Operation {
  readonly id: string;
  readonly kind: string;
  readonly tenant: number;
  readonly worker: number;
  readonly idempotencyKey: string | undefined;
  readonly entities: readonly Entity[];
  readonly attempts: Attempt[];
  /** What the log must say if it took place. Undefined: a disclosure of tokens nobody knows without the answer. */
  expected: readonly ExpectedEntry[] | undefined;
  /** The entries of a disclosure of unknown tokens all have this operation. */
  readonly disclosure?: string;
}

export interface Journal {
  readonly operations: readonly Operation[];
  add(operation: Operation): void;
  /** Called when an attempt begins and when it is over: each writes a line. */
  note(operation: Operation, attempt: Attempt): void;
  close(): Promise<void>;
}

/** Kept in memory to be checked, and in a file to be read by whoever looks for the reason of a violation. */
export function createJournal(file: string): Journal {
  const operations: Operation[] = [];
  const out: WriteStream = createWriteStream(file, { flags: 'a' });
  return {
    operations,
    add: (operation) => void operations.push(operation),
    note(operation, attempt) {
      const { id, kind, tenant, worker, idempotencyKey } = operation;
      out.write(`${JSON.stringify({ id, kind, tenant, worker, idempotencyKey, ...attempt })}\n`);
    },
    close: () => new Promise((resolve) => void out.end(resolve)),
  };
}

/** One success is enough; one unknown attempt is enough not to know. */
export function outcomeOf(operation: Operation): Outcome {
  const outcomes = operation.attempts.map(({ outcome }) => outcome);
  if (outcomes.includes('acknowledged')) return 'acknowledged';
  return outcomes.every((outcome) => outcome === 'refused') ? 'refused' : 'unknown';
}
