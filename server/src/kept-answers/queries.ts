import { byteaArray, uuidArray } from '../storage/binary-array.js';
import type { Bulk } from '../storage/bulk.js';
import { bulkWrite } from '../storage/bulk.js';
import { givenStatement } from '../storage/given.js';
import type { SystemTx, TenantTx } from '../storage/scope.js';
import { distributedStatement, plainStatement, statement } from '../storage/statement.js';

export interface KeptRow {
  readonly status: number;
  /** Empty when only that the request succeeded is kept. */
  readonly sealed: Buffer;
}

export interface NewKeptRow extends KeptRow {
  readonly id: Buffer;
  /** Names of the entities the answer shows. */
  readonly shown: readonly string[];
  readonly expiresAtMs: number;
}

/** Which answer is looked for. */
export interface KeptKey {
  readonly tenantId: string;
  readonly id: Buffer;
}

interface FoundKept {
  readonly status: number;
  /** Null when it is too large to travel with those of others. */
  readonly sealed: Buffer | null;
  readonly expires_at: Date;
}

/** Answers found for everybody who asked together. */
export interface FoundAnswers {
  get(key: KeptKey): FoundKept | undefined;
}

const nameOf = (tenantId: string, id: Buffer): string => `${tenantId}${id.toString('latin1')}`;
/** Nearly every answer is smaller. Many callers share a statement, and none of them may fill the memory. */
export const SHARED_ANSWER_BYTES_MAX = 8_192;

export const FIND_KEPT_ANSWERS: Bulk<KeptKey, FoundKept & { tenant_id: string; id: Buffer }, FoundAnswers> = {
  statement: givenStatement(
    'find_kept_answers',
    ({ rows, tenant }) =>
      `SELECT k.tenant_id, k.id, k.status, k.expires_at,
              CASE WHEN octet_length(k.sealed) <= ${SHARED_ANSWER_BYTES_MAX} THEN k.sealed END AS sealed
       FROM ${rows('tenant_id uuid', 'id bytea')}
       CROSS JOIN LATERAL (SELECT k.tenant_id, k.id, k.status, k.expires_at, k.sealed FROM idempotency_keys AS k
                           WHERE k.tenant_id = ${tenant} AND k.id >= given.id AND k.id <= given.id
                           ORDER BY k.id LIMIT 1) AS k`,
  ),
  order: 90,
  values: (keys) => [uuidArray(keys.map(({ tenantId }) => tenantId)), byteaArray(keys.map(({ id }) => id))],
  collect(rows) {
    const found = new Map(rows.map((row) => [nameOf(row.tenant_id, row.id), row]));
    return { get: ({ tenantId, id }) => found.get(nameOf(tenantId, id)) };
  },
};

const FIND_KEPT = statement<KeptRow>(
  'find_kept_answer',
  'SELECT status, sealed FROM idempotency_keys WHERE tenant_id = $1 AND id = $2 AND expires_at > $3',
);

/** However large it is. */
export async function findKept(tx: TenantTx, id: Buffer, nowMs: number): Promise<KeptRow | undefined> {
  const [row] = await tx.run(FIND_KEPT, [tx.tenantId, id, new Date(nowMs)]);
  return row;
}

const WRITE_ANSWER = `
  INSERT INTO idempotency_keys (tenant_id, id, status, sealed, expires_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (tenant_id, id) DO UPDATE
    SET status = excluded.status, sealed = excluded.sealed, expires_at = excluded.expires_at
    WHERE idempotency_keys.expires_at <= $6`;

const INSERT_KEPT = plainStatement<{ kept: number }>(
  'insert_kept_answer',
  `WITH kept AS (${WRITE_ANSWER} RETURNING id),
   shown AS (
     INSERT INTO kept_tokens (tenant_id, answer, token) SELECT $1, kept.id, given.token
     FROM kept CROSS JOIN unnest($7::uuid[]) AS given (token)
     ON CONFLICT DO NOTHING)
   SELECT 1 AS kept FROM kept`,
);

/** Two changes in one statement would be put to every server, and one that is down would refuse everybody's. */
const INSERT_ANSWER = distributedStatement<{ kept: number }>(
  'insert_answer_alone',
  `${WRITE_ANSWER} RETURNING 1 AS kept`,
);
const INSERT_SHOWN = distributedStatement<never>(
  'insert_shown_by_answer',
  `INSERT INTO kept_tokens (tenant_id, answer, token) SELECT anchor.id, $2, given.token
   FROM tenants AS anchor CROSS JOIN unnest($3::uuid[]) AS given (token) WHERE anchor.id = $1
   ON CONFLICT DO NOTHING`,
);

/** False when an answer is there that still counts. Waits for a transaction that is about to write it. */
export async function insertKept(tx: TenantTx, row: NewKeptRow, nowMs: number): Promise<boolean> {
  const { id, status, sealed, expiresAtMs, shown } = row;
  const values = [tx.tenantId, id, status, sealed, new Date(expiresAtMs), new Date(nowMs)];
  const names = uuidArray(shown);
  // Each is for one kind of database, and finds nothing on the other.
  const [atOnce, alone] = await Promise.all([tx.run(INSERT_KEPT, [...values, names]), tx.run(INSERT_ANSWER, values)]);
  if (alone.length > 0 && shown.length > 0) await tx.run(INSERT_SHOWN, [tx.tenantId, id, names]);
  return atOnce.length + alone.length > 0;
}

interface GoneEntity {
  readonly tenantId: string;
  readonly name: string;
}

const EMPTY_ANSWERS = bulkWrite<GoneEntity>(
  givenStatement(
    'empty_kept_answers',
    // Locked in the order of their key: two batches may take away tokens of the same answers.
    ({ rows, tenant, isOf }) =>
      `WITH named AS MATERIALIZED (
         SELECT DISTINCT k.tenant_id, k.answer FROM ${rows('tenant_id uuid', 'token uuid')}
         CROSS JOIN LATERAL (SELECT k.tenant_id, k.answer FROM kept_tokens AS k
                             WHERE k.tenant_id = ${tenant} AND k.token = given.token OFFSET 0) AS k),
       emptied AS MATERIALIZED (
         SELECT a.tenant_id, a.id FROM (SELECT tenant_id, answer FROM named ORDER BY tenant_id, answer) AS named
         CROSS JOIN LATERAL (SELECT a.tenant_id, a.id FROM idempotency_keys AS a
                             WHERE ${isOf('a', 'named')} AND a.id >= named.answer AND a.id <= named.answer
                             ORDER BY a.id LIMIT 1 FOR UPDATE) AS a)
       UPDATE idempotency_keys a SET sealed = '' FROM emptied
       WHERE ${isOf('a', 'emptied')} AND a.id = emptied.id AND a.sealed <> ''`,
  ),
  80,
  (rows) => [uuidArray(rows.map(({ tenantId }) => tenantId)), uuidArray(rows.map(({ name }) => name))],
);

/** Erases what is kept of answers that show these entities; that their requests succeeded stays. */
export async function emptyAnswersShowing(tx: TenantTx, names: readonly string[]): Promise<void> {
  await tx.gather(
    EMPTY_ANSWERS,
    names.map((name) => ({ tenantId: tx.tenantId, name })),
  );
}

const LIST_DUE_TENANTS = statement<{ tenant_id: string }>(
  'list_tenants_with_due_answers',
  `SELECT DISTINCT tenant_id FROM
     (SELECT tenant_id FROM idempotency_keys WHERE expires_at <= $1 ORDER BY expires_at, tenant_id LIMIT $2) AS due
   ORDER BY tenant_id`,
);

export async function listTenantsWithDue(tx: SystemTx, nowMs: number, limit: number): Promise<string[]> {
  return (await tx.run(LIST_DUE_TENANTS, [new Date(nowMs), limit])).map((row) => row.tenant_id);
}

const DELETE_DUE = statement<{ removed: number }>(
  'delete_due_answers',
  // The outer test on expires_at is for a row that was written anew while this statement waited for it.
  `WITH due AS (SELECT id FROM idempotency_keys WHERE tenant_id = $1 AND expires_at <= $2
                ORDER BY expires_at LIMIT $3 FOR UPDATE SKIP LOCKED),
        removed AS (DELETE FROM idempotency_keys AS k USING due
                    WHERE k.tenant_id = $1 AND k.id = due.id AND k.expires_at <= $2 RETURNING 1)
   SELECT count(*)::int AS removed FROM removed`,
);

export async function deleteDue(tx: TenantTx, nowMs: number, limit: number): Promise<number> {
  const [row] = await tx.run(DELETE_DUE, [tx.tenantId, new Date(nowMs), limit]);
  return row?.removed ?? 0;
}

const LIST_KEPT = statement<{ id: Buffer; sealed: Buffer }>(
  'list_kept_answers',
  `SELECT id, sealed FROM idempotency_keys WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export function listKept(tx: TenantTx, after: Buffer, limit: number): Promise<{ id: Buffer; sealed: Buffer }[]> {
  return tx.run(LIST_KEPT, [tx.tenantId, after, limit]);
}

const UPDATE_SEALED = statement<{ id: Buffer }>(
  'update_kept_answer',
  `UPDATE idempotency_keys SET sealed = $4 WHERE tenant_id = $1 AND id = $2 AND sealed = $3 RETURNING id`,
);

/** False when the row is not the one that was read any more. */
export async function replaceSealed(tx: TenantTx, id: Buffer, before: Buffer, after: Buffer): Promise<boolean> {
  return (await tx.run(UPDATE_SEALED, [tx.tenantId, id, before, after])).length > 0;
}
