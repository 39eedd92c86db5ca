import type { SystemTx, TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';
import type { RequestRow } from './queries.js';
import { REQUEST_COLUMNS } from './queries.js';

/** What a process takes requests for. */
export type QueueStep = 'queued' | 'delivering';

const DATABASE_TIME = statement<{ database_ms: number }>(
  'read_database_time',
  'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms',
);

export async function readDatabaseTime(tx: SystemTx): Promise<number> {
  const [row] = await tx.run(DATABASE_TIME, []);
  return row?.database_ms ?? 0;
}

const LIST_TENANTS_WITH_DUE_REQUESTS = statement<{ tenant_id: string }>(
  'list_tenants_with_due_requests',
  // From tenant to tenant in the index: however many requests one of them has, the others are found as fast.
  `WITH RECURSIVE due (tenant_id) AS (
     (SELECT q.tenant_id FROM reactor_requests AS q
      WHERE q.state = $1 AND q.due_at <= $2 AND q.tenant_id > $3 ORDER BY q.tenant_id LIMIT 1)
     UNION ALL
     SELECT (SELECT q.tenant_id FROM reactor_requests AS q
             WHERE q.state = $1 AND q.due_at <= $2 AND q.tenant_id > due.tenant_id ORDER BY q.tenant_id LIMIT 1)
     FROM due WHERE due.tenant_id IS NOT NULL)
   SELECT due.tenant_id FROM due JOIN tenants AS n ON n.id = due.tenant_id AND n.deleted_at IS NULL LIMIT $4`,
  // Each server tells its own. What waits is bounded for each tenant.
  `SELECT q.tenant_id FROM reactor_requests AS q JOIN tenants AS n ON n.id = q.tenant_id AND n.deleted_at IS NULL
   WHERE q.state = $1 AND q.due_at <= $2 AND q.tenant_id > $3 GROUP BY q.tenant_id ORDER BY q.tenant_id LIMIT $4`,
);

/** Tenants behind this one, in the order of their ids, that have something due. */
export async function listTenantsWithDueRequests(
  tx: SystemTx,
  step: QueueStep,
  nowMs: number,
  after: string,
  limit: number,
): Promise<string[]> {
  const rows = await tx.run(LIST_TENANTS_WITH_DUE_REQUESTS, [step, new Date(nowMs), after, limit]);
  return rows.map(({ tenant_id }) => tenant_id);
}

const CLAIM_REQUESTS = statement<RequestRow>(
  'claim_reactor_requests',
  `UPDATE reactor_requests
   SET lease = $4, due_at = $5, tries = tries + 1, attempt = attempt + CASE WHEN state = 'queued' THEN 1 ELSE 0 END
   WHERE tenant_id = $1 AND id = ANY (ARRAY(
     SELECT id FROM reactor_requests WHERE tenant_id = $1 AND state = $2 AND due_at <= $3
     ORDER BY due_at LIMIT $6 FOR UPDATE SKIP LOCKED))
   RETURNING ${REQUEST_COLUMNS}`,
);

export interface ClaimTerms {
  readonly step: QueueStep;
  readonly lease: string;
  readonly nowMs: number;
  readonly untilMs: number;
  readonly limit: number;
}

/** Takes what is due, also from those who had it and let their time run out. */
export async function claimRequests(
  tx: TenantTx,
  { step, lease, nowMs, untilMs, limit }: ClaimTerms,
): Promise<RequestRow[]> {
  return tx.run(CLAIM_REQUESTS, [tx.tenantId, step, new Date(nowMs), lease, new Date(untilMs), limit]);
}

/** A request as whoever holds it names it. */
export interface LeasedRequest {
  readonly id: string;
  readonly lease: string;
}

const RENEW_LEASE = statement<{ id: string }>(
  'renew_reactor_request_lease',
  'UPDATE reactor_requests SET due_at = $4 WHERE tenant_id = $1 AND id = $2 AND lease = $3 RETURNING id',
);

/** False where it is not held under this name any more. */
export async function renewLease(tx: TenantTx, { id, lease }: LeasedRequest, untilMs: number): Promise<boolean> {
  return (await tx.run(RENEW_LEASE, [tx.tenantId, id, lease, new Date(untilMs)])).length > 0;
}

/** What became of a run, as it is stored. */
export interface RunConclusion {
  readonly state: 'delivering' | 'done' | 'failed';
  readonly hasRun: boolean;
  readonly endedAt: Date;
  /** Undefined while there is something left to do. */
  readonly expiresAt: Date | undefined;
  readonly failure: StoredFailure | undefined;
  readonly version: number;
  readonly sealed: Buffer;
}

/** Which failure it was, by its code and status alone. */
export interface StoredFailure {
  readonly code: string;
  readonly status: number | undefined;
}

const CONCLUDE_RUN = statement<{ id: string }>(
  'conclude_reactor_request',
  `UPDATE reactor_requests
   SET state = $4, has_run = $5, tries = 0, due_at = $6, ended_at = $6, expires_at = $7, lease = NULL, failure_code = $8,
       failure_status = $9, version = $10, bytes = $11, sealed = $12
   WHERE tenant_id = $1 AND id = $2 AND lease = $3 AND state = 'queued' RETURNING id`,
);

/** False where it is not held under this name any more; then nothing was written. */
export async function concludeRun(
  tx: TenantTx,
  { id, lease }: LeasedRequest,
  { state, hasRun, endedAt, expiresAt, failure, version, sealed }: RunConclusion,
): Promise<boolean> {
  const written = await tx.run(CONCLUDE_RUN, [
    ...[tx.tenantId, id, lease, state, hasRun, endedAt, expiresAt ?? null, failure?.code ?? null],
    ...[failure?.status ?? null, version, sealed.length, sealed],
  ]);
  return written.length > 0;
}

/** What becomes of a request whose record stays as it is. */
export interface Settlement {
  readonly state: 'queued' | 'delivering' | 'done' | 'failed';
  readonly dueAt: Date;
  readonly expiresAt?: Date | undefined;
  readonly failure?: StoredFailure | undefined;
  /** It was given up before its time, so it does not count as a try. */
  readonly isUncounted?: boolean;
}

const SETTLE_REQUEST = statement<{ id: string }>(
  'settle_reactor_request',
  `UPDATE reactor_requests
   SET state = $4, lease = NULL, due_at = $5, expires_at = $6, failure_code = coalesce($7, failure_code),
       failure_status = CASE WHEN $7::text IS NULL THEN failure_status ELSE $8 END, tries = tries - $9
   WHERE tenant_id = $1 AND id = $2 AND lease = $3 RETURNING id`,
);

/** False where it is not held under this name any more; then nothing was written. */
export async function settleRequest(
  tx: TenantTx,
  { id, lease }: LeasedRequest,
  { state, dueAt, expiresAt, failure, isUncounted = false }: Settlement,
): Promise<boolean> {
  const written = await tx.run(SETTLE_REQUEST, [
    ...[tx.tenantId, id, lease, state, dueAt, expiresAt ?? null, failure?.code ?? null],
    ...[failure?.status ?? null, isUncounted ? 1 : 0],
  ]);
  return written.length > 0;
}

const LIST_TENANTS_WITH_OLD_REQUESTS = statement<{ tenant_id: string }>(
  'list_tenants_with_old_requests',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT q.tenant_id FROM reactor_requests AS q JOIN tenants AS n ON n.id = q.tenant_id AND n.deleted_at IS NULL
     WHERE q.expires_at <= $1 ORDER BY q.expires_at LIMIT $2) AS due`,
);

export async function listTenantsWithOldRequests(tx: SystemTx, nowMs: number, limit: number): Promise<string[]> {
  const rows = await tx.run(LIST_TENANTS_WITH_OLD_REQUESTS, [new Date(nowMs), limit]);
  return rows.map(({ tenant_id }) => tenant_id);
}

const DELETE_OLD_REQUESTS = statement<{ id: string }>(
  'delete_old_reactor_requests',
  // The outer condition is for one that was made due again while this statement waited for it.
  `DELETE FROM reactor_requests WHERE tenant_id = $1 AND expires_at <= $2 AND id = ANY (ARRAY(
     SELECT id FROM reactor_requests WHERE tenant_id = $1 AND expires_at <= $2 ORDER BY expires_at LIMIT $3))
   RETURNING id`,
);

export async function deleteOldRequests(tx: TenantTx, nowMs: number, limit: number): Promise<number> {
  return (await tx.run(DELETE_OLD_REQUESTS, [tx.tenantId, new Date(nowMs), limit])).length;
}
