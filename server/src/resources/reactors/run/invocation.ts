import type { Application, Session } from '../../../access/principal.js';
import type { AuditContext, Shown } from '../../../audit/entry.js';
import type { AppError } from '../../../kernel/errors.js';
import type { Json } from '../../../kernel/json.js';
import type { TenantTx } from '../../../storage/scope.js';

/** Who may have code run. */
export type Invoker = Application | Session;

/** One attempt to run a Reactor in somebody's name. */
export interface Invocation {
  readonly principal: Invoker;
  readonly auditContext: AuditContext;
  readonly reactorId: string;
  /** With expressions, as the caller sent them. */
  readonly args: Json;
  /** The same on every attempt of one call. */
  readonly requestId: string;
  /** From 1. */
  readonly attempt: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** What the caller is given. */
export interface ReactAnswer {
  readonly tokens?: Json;
  readonly raw?: Json;
}

export type InvocationResult =
  | { readonly answer: ReactAnswer; readonly failure?: never }
  | { readonly failure: AppError; readonly answer?: never };

/** Called once more, last, in the transaction that makes the invocation's log entry durable. */
export type Conclude = (tx: TenantTx, result: InvocationResult, shown: readonly Shown[]) => Promise<void>;

/**
 * Runs a Reactor: finds its code, puts values in place of expressions, runs it behind the wall, tokenizes what is to be, writes
 * the log. Rights on every token are checked here, as those of the caller; whether the caller may use tokens at all was asked
 * before.
 *
 * Log: "Token used in reactor" for each token, durable before the code gets its value; "Token created" for what it tokenizes;
 * "Reactor invoked" or "Reactor invocation failed" with the version that ran, durable before this resolves. What is tokenized,
 * that entry and what `conclude` writes are one transaction.
 *
 * Resolves with a failure for what code did. Throws `AppError` for what kept it from running, and then nothing was concluded:
 * `not_found`, whatever `Vault.use` throws, `reactors_unavailable`, `overloaded`, `payload_too_large`, `storage_unavailable`.
 */
export type Invoke = (invocation: Invocation, conclude?: Conclude) => Promise<InvocationResult>;
