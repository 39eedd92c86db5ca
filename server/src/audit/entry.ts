import type { Share } from '../kernel/byte-budget.js';
import type { TenantTx } from '../storage/scope.js';
import type { EntityType } from './entity-types.js';
import type { LogEvent } from './events.js';

/** Who acts. What the product does by itself has no actor. */
export interface Actor {
  readonly type: 'application' | 'user' | 'session';
  readonly id: string;
}

/** An entity that an answer shows. When the entity is deleted, the kept answer is emptied too. */
export interface Shown {
  /** Its name of fixed size, a UUID. */
  readonly name: string;
  readonly expiresAtMs: number | undefined;
}

/** The request that is being answered. It releases what it holds once the answer is sent. */
export interface AnswerHolder {
  /** Its share of memory, if it has one. */
  held: Share[] | undefined;
  /** Where the answer will go. */
  readonly connection?: { readonly destroyed: boolean };
  /** Whether the caller still has the rights it had at the start; for answers that take long. */
  isStillAllowed?: (() => Promise<boolean>) | undefined;
}

/** Who acts, when and from where. It goes with a request from the first hook to the log entry. */
export interface AuditContext {
  readonly actor: Actor | undefined;
  readonly atMs: number;
  readonly sourceAddress: string | undefined;
  readonly traceId: string | undefined;
  /** Undefined where nobody waits for an answer. */
  readonly holder?: AnswerHolder | undefined;
  /**
   * Under an idempotency key: stores the answer's body in the transaction of its effect. A change calls it last, with
   * the very value it returns to the route. A read has nothing to keep.
   */
  readonly keepAnswer?: ((tx: TenantTx, body: unknown, shown?: readonly Shown[]) => Promise<void>) | undefined;
}

export type Outcome = 'success' | 'failure' | 'denied';

/** Detail of an entry: the number of matches of a search. Never data, secrets or code. */
export interface EntryChange {
  readonly field: string;
  readonly from: string | number | null;
  readonly to: string | number | null;
}

export interface Entry {
  readonly event: LogEvent;
  readonly entityId: string;
  /** The token's own type; other events name their entity type themselves. */
  readonly entityType?: EntityType;
  readonly outcome: Outcome;
  /** Of code that ran: which version of it. */
  readonly entityVersion?: number | undefined;
  readonly changes?: readonly EntryChange[] | undefined;
}

/** What the operator does from the command line. */
export function operatorContext(atMs: number): AuditContext {
  return { actor: undefined, atMs, sourceAddress: undefined, traceId: undefined };
}
