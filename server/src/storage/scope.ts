import type { Gather } from './bulk.js';
import type { Statement, Value } from './statement.js';
import { statement } from './statement.js';

/** The four ways to look at the database; each is a role that row-level security knows. */
export type Role = 'strongroom_app' | 'strongroom_system' | 'strongroom_purge' | 'strongroom_people';

/** An open transaction. */
export interface Tx {
  run<Row>(statement: Statement<Row>, values: readonly Value[]): Promise<Row[]>;
}

/** An open transaction on one tenant's rows. Every statement on tenant data names `tenantId` as well. */
export interface TenantTx extends Tx {
  readonly kind: 'tenant';
  readonly tenantId: string;
  /** Which of the parallel writers this is: counters use it to stay out of each other's way. */
  readonly lane: number;
  /** Runs a bulk statement together with the other callers in this transaction that ask for it now. */
  readonly gather: Gather;
}

/** An open transaction that sees identities across tenants, to find out who a key belongs to. */
export interface SystemTx extends Tx {
  readonly kind: 'system';
  /** Before rows of a tenant are looked at whose server may not answer. Rejects with 503 where that is known. */
  readonly reach?: (tenantId: string) => Promise<void>;
}

/** An open transaction on users and on what they sign in with, who belong to no tenant. */
export interface PeopleTx extends Tx {
  readonly kind: 'people';
}

/** An open transaction that may remove what a deleted tenant left behind. */
export interface PurgeTx extends Tx {
  readonly kind: 'purge';
  readonly tenantId: string;
}

/** An open transaction that may drop what is past its retention, of all tenants at once. It sees no row. */
export interface RetentionTx extends Tx {
  readonly kind: 'retention';
}

const ENTERED = `set_config('role', $1, true), set_config('strongroom.tenants', $2, true),
                       set_config('statement_timeout', $3, true), set_config('lock_timeout', $4, true),
                       set_config('idle_in_transaction_session_timeout', $5, true),
                       set_config('enable_sort', 'off', true), set_config('jit', 'off', true)`;

/**
 * Takes on the role and the tenants for this transaction only, so a connection carries nothing over to the next one,
 * also behind a transaction-pooling proxy. Bounds on time travel along for the same reason.
 *
 * Sorting is discouraged because our statements name the order of the index they mean: a table that was just filled has
 * no statistics, and the server would rather sort the few rows it expects of the wrong index. Compiling a statement never
 * pays for ours. Nothing comes back: to read what was set would take the driver longer than to send it.
 */
export const ENTER_SCOPE: Statement<never> = statement('enter_scope', `SELECT WHERE concat(${ENTERED}) IS NULL`);

/**
 * The same for statements whose plan does not depend on their values: they find rows by an index, or scan none. Left alone the
 * server plans them anew for every short list, because it expects more rows of one that it does not know. Their plan is kept while
 * tables grow, so it must not be one that is right for an empty table alone: they name the order of their index.
 */
export const ENTER_PLANNED_SCOPE: Statement<never> = statement(
  'enter_planned_scope',
  `SELECT WHERE concat(${ENTERED}, set_config('plan_cache_mode', 'force_generic_plan', true)) IS NULL`,
);

/**
 * The same on a distributed database, in two parts. What is set by SET LOCAL reaches the servers that have the rows, and by a
 * function it does not; the role must not, because connections to them are made in its name.
 */
export const ENTER_DISTRIBUTED_SCOPE: Statement<{ scope: string }> = statement(
  'enter_distributed_scope',
  `SELECT set_config('role', $1, true), set_config('statement_timeout', $2, true), set_config('lock_timeout', $3, true),
          set_config('idle_in_transaction_session_timeout', $4, true), set_config('jit', 'off', true)`,
);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** The tenants of a scope, and those of them that are deleted and may be purged. SET takes no parameters. */
export function distributedScope(tenants: readonly string[], doomed: readonly string[]): string {
  return `SET LOCAL citus.propagate_set_commands TO 'local'; SET LOCAL strongroom.tenants TO '${uuidsOf(tenants)}'${
    doomed.length > 0 ? `; SET LOCAL strongroom.doomed TO '${uuidsOf(doomed)}'` : ''
  }`;
}

function uuidsOf(ids: readonly string[]): string {
  for (const id of ids) if (!UUID.test(id)) throw new RangeError('not the id of a tenant');
  return ids.join(',');
}
