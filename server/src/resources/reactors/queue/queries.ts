import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

/** What has to be done with a request, or that nothing has. */
export type RequestState = 'queued' | 'delivering' | 'done' | 'failed' | 'cancelled';

/** A request without what it says. */
export interface RequestFacts {
  readonly tenant_id: string;
  readonly id: string;
  readonly reactor_id: string;
  readonly state: RequestState;
  readonly has_run: boolean;
  readonly has_callback: boolean;
  readonly actor_type: 'application' | 'session';
  readonly actor_id: string;
  readonly trace_id: string | null;
  readonly source_address: string | null;
  readonly timeout_ms: number;
  readonly attempt: number;
  readonly tries: number;
  readonly due_at: Date;
  readonly lease: string | null;
  readonly failure_code: string | null;
  readonly failure_status: number | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
  readonly expires_at: Date | null;
  readonly version: number;
}

export interface RequestRow extends RequestFacts {
  readonly sealed: Buffer;
}

const FACTS = `tenant_id, id, reactor_id, state, has_run, has_callback, actor_type, actor_id, trace_id, source_address, timeout_ms,
  attempt, tries, due_at, lease, failure_code, failure_status, created_at, ended_at, expires_at, version`;
export const REQUEST_COLUMNS = `${FACTS}, sealed`;

// Reads the Reactor, so that one that was just deleted is not found, instead of a key that leads nowhere.
const requestText = (tenant: string, end: string): string =>
  `INSERT INTO reactor_requests (tenant_id, id, reactor_id, state, has_run, has_callback, actor_type, actor_id, trace_id,
     source_address, timeout_ms, attempt, tries, due_at, created_at, version, bytes, sealed)
   SELECT ${tenant}, $3, $2, 'queued', false, $4, $5, $6, $7, $8, $9, 0, 0, $10, $11, $12, $13, $14
   FROM reactors WHERE tenant_id = $1 AND id = $2 FOR KEY SHARE
   ${end}`;

const INSERT_REQUEST = statement<{ id: string }>(
  'insert_reactor_request',
  requestText('$1', 'RETURNING id'),
  // Citus sends it to the one server alone where the tenant is a column, and returns a row only where a conflict is named.
  requestText('tenant_id', 'ON CONFLICT DO NOTHING RETURNING id'),
);

export type NewRequest = Pick<
  RequestRow,
  | ('id' | 'reactor_id' | 'has_callback' | 'actor_type' | 'actor_id' | 'trace_id' | 'source_address' | 'timeout_ms')
  | ('due_at' | 'created_at' | 'version' | 'sealed')
>;

/** False where there is no such Reactor. */
export async function insertRequest(tx: TenantTx, row: NewRequest): Promise<boolean> {
  const inserted = await tx.run(INSERT_REQUEST, [
    ...[tx.tenantId, row.reactor_id, row.id, row.has_callback, row.actor_type, row.actor_id, row.trace_id],
    ...[row.source_address, row.timeout_ms, row.due_at, row.created_at, row.version, row.sealed.length, row.sealed],
  ]);
  return inserted.length > 0;
}

const MEASURE_QUEUE = statement<{ requests: number; bytes: number }>(
  'measure_reactor_queue',
  `SELECT count(*)::int AS requests, coalesce(sum(bytes), 0)::float8 AS bytes
   FROM reactor_requests WHERE tenant_id = $1 AND state IN ('queued', 'delivering')`,
);

/** How much of a tenant waits. */
export async function measureQueue(tx: TenantTx): Promise<{ readonly requests: number; readonly bytes: number }> {
  const [row] = await tx.run(MEASURE_QUEUE, [tx.tenantId]);
  return row ?? { requests: 0, bytes: 0 };
}

const FIND_REQUEST = statement<RequestRow>(
  'find_reactor_request',
  `SELECT ${REQUEST_COLUMNS} FROM reactor_requests WHERE tenant_id = $1 AND id = $2 AND reactor_id = $3`,
);

export async function findRequest(tx: TenantTx, reactorId: string, id: string): Promise<RequestRow | undefined> {
  return (await tx.run(FIND_REQUEST, [tx.tenantId, id, reactorId]))[0];
}

const LOCK_REQUEST = statement<RequestFacts>(
  'lock_reactor_request',
  `SELECT ${FACTS} FROM reactor_requests WHERE tenant_id = $1 AND id = $2 AND reactor_id = $3 FOR NO KEY UPDATE`,
);

/** Held against other processes until this transaction ends. */
export async function lockRequest(tx: TenantTx, reactorId: string, id: string): Promise<RequestFacts | undefined> {
  return (await tx.run(LOCK_REQUEST, [tx.tenantId, id, reactorId]))[0];
}

const OPEN_ONES = `reactor_id = $2 AND state IN ('queued', 'delivering', 'failed')`;
const LIST_REQUESTS = statement<RequestFacts>(
  'list_reactor_requests',
  `SELECT ${FACTS} FROM reactor_requests WHERE tenant_id = $1 AND ${OPEN_ONES}
   ORDER BY created_at DESC, id DESC LIMIT $3::bigint OFFSET $4::bigint`,
);
const COUNT_REQUESTS = statement<{ total: string }>(
  'count_reactor_requests',
  `SELECT count(*) AS total FROM reactor_requests WHERE tenant_id = $1 AND ${OPEN_ONES}`,
);

/** Those of a Reactor that are not over, and those that failed. */
export async function listRequests(
  tx: TenantTx,
  reactorId: string,
  limit: number,
  offset: number,
): Promise<RequestFacts[]> {
  return tx.run(LIST_REQUESTS, [tx.tenantId, reactorId, limit, offset]);
}

export async function countRequests(tx: TenantTx, reactorId: string): Promise<number> {
  const [row] = await tx.run(COUNT_REQUESTS, [tx.tenantId, reactorId]);
  return Number(row?.total ?? 0);
}

const REQUEUE_REQUEST = statement<RequestFacts>(
  'requeue_reactor_request',
  `UPDATE reactor_requests
   SET state = CASE WHEN has_run THEN 'delivering' ELSE 'queued' END, tries = 0, due_at = $3, lease = NULL,
       failure_code = NULL, failure_status = NULL, expires_at = NULL,
       ended_at = CASE WHEN has_run THEN ended_at END
   WHERE tenant_id = $1 AND id = $2 AND state = 'failed' RETURNING ${FACTS}`,
);

/** Makes a failed one due again: to be delivered where it has run, else to run. Undefined where it has not failed. */
export async function requeueRequest(tx: TenantTx, id: string, dueAt: Date): Promise<RequestFacts | undefined> {
  return (await tx.run(REQUEUE_REQUEST, [tx.tenantId, id, dueAt]))[0];
}

const CANCEL_REQUEST = statement<RequestFacts>(
  'cancel_reactor_request',
  `UPDATE reactor_requests
   SET state = 'cancelled', lease = NULL, ended_at = NULL, expires_at = $3, version = $4, bytes = $5, sealed = $6
   WHERE tenant_id = $1 AND id = $2 AND state IN ('queued', 'delivering') RETURNING ${FACTS}`,
);

/** Ends one that is not over, and takes away what it said. Undefined where it is over. */
export async function cancelRequest(
  tx: TenantTx,
  row: Pick<RequestRow, 'id' | 'version' | 'sealed'>,
  expiresAt: Date,
): Promise<RequestFacts | undefined> {
  const { id, version, sealed } = row;
  const [cancelled] = await tx.run(CANCEL_REQUEST, [tx.tenantId, id, expiresAt, version, sealed.length, sealed]);
  return cancelled;
}

const WALK_REQUESTS = statement<RequestRow>(
  'walk_reactor_requests',
  `SELECT ${REQUEST_COLUMNS} FROM reactor_requests WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

/** In the order of their ids, for whoever goes over all of them. */
export async function walkRequests(tx: TenantTx, after: string, limit: number): Promise<RequestRow[]> {
  return tx.run(WALK_REQUESTS, [tx.tenantId, after, limit]);
}

const REPLACE_SEALED_REQUEST = statement<{ id: string }>(
  'replace_sealed_reactor_request',
  `UPDATE reactor_requests SET sealed = $4 WHERE tenant_id = $1 AND id = $2 AND version = $3 RETURNING id`,
);

/** Writes the same content under another key, unless somebody wrote in between. */
export async function replaceSealedRequest(tx: TenantTx, row: RequestRow, sealed: Buffer): Promise<boolean> {
  return (await tx.run(REPLACE_SEALED_REQUEST, [tx.tenantId, row.id, row.version, sealed])).length > 0;
}
