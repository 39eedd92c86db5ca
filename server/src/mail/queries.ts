import { FIRST_ID } from '../kernel/ids.js';
import { statement } from '../storage/statement.js';
import type { EnqueueTx, MailTx } from './mail-scope.js';

export interface MailRow {
  readonly id: string;
  /** Also the name under which whoever took it last may write. */
  readonly attempts: number;
  readonly created_at: Date;
  readonly sealed: Buffer;
}

const INSERT_MAIL = statement<{ id: string }>(
  'insert_mail',
  // A process whose clock is ahead must not delay its mails.
  `INSERT INTO mails (id, due_at, attempts, created_at, sealed)
   SELECT $1, least($2, clock_timestamp()), 0, $2, $3
   WHERE (SELECT count(*) FROM (SELECT 1 FROM mails LIMIT $4) AS waiting) < $5::integer
   RETURNING id`,
);

const INSERT_MAIL_OF_TENANT = statement<{ id: string }>(
  'insert_mail_of_tenant',
  `INSERT INTO mails (id, due_at, attempts, created_at, sealed, on_behalf_of)
   SELECT $1, least($2, clock_timestamp()), 0, $2, $3, $4
   WHERE (SELECT count(*) FROM (SELECT 1 FROM mails LIMIT $5) AS waiting) < $5::integer
     AND (SELECT count(*) FROM (SELECT 1 FROM mails WHERE on_behalf_of IS NOT NULL LIMIT $6) AS of_all) < $6::integer
     AND (SELECT count(*) FROM (SELECT 1 FROM mails WHERE on_behalf_of = $4 LIMIT $7) AS of_one) < $7::integer
   RETURNING id`,
);

export interface TenantShare {
  readonly tenantId: string;
  /** Of the whole queue, of all tenants, of this one. */
  readonly waitingMax: number;
  readonly ofTenantsMax: number;
  readonly ofTenantMax: number;
}

/** False where as many wait as may: in all, for tenants, or for this one. */
export async function insertMailOfTenant(
  tx: EnqueueTx,
  { id, created_at, sealed }: Omit<MailRow, 'attempts'>,
  { tenantId, waitingMax, ofTenantsMax, ofTenantMax }: TenantShare,
): Promise<boolean> {
  const values = [id, created_at, sealed, tenantId, waitingMax, ofTenantsMax, ofTenantMax];
  return (await tx.run(INSERT_MAIL_OF_TENANT, values)).length > 0;
}

/** False where as many wait as may. A pretence looks at as many rows, and finds that it is one too many. */
export async function insertMail(
  tx: EnqueueTx,
  { id, created_at, sealed }: Omit<MailRow, 'attempts'>,
  waitingMax: number,
  isPretence = false,
): Promise<boolean> {
  return (await tx.run(INSERT_MAIL, [id, created_at, sealed, waitingMax, isPretence ? 0 : waitingMax])).length > 0;
}

const READ_MAIL_TIME = statement<{ database_ms: number }>(
  'read_mail_time',
  'SELECT (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS database_ms',
);

export async function readMailTime(tx: MailTx): Promise<number> {
  const [row] = await tx.run(READ_MAIL_TIME, []);
  return row?.database_ms ?? 0;
}

const CLAIM_MAILS = statement<MailRow>(
  'claim_mails',
  `UPDATE mails SET due_at = $2, attempts = attempts + 1
   WHERE id = ANY (ARRAY(SELECT id FROM mails WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED))
   RETURNING id, attempts, created_at, sealed`,
);

/** Takes what is due, also from those who had it and let their time run out. */
export async function claimMails(tx: MailTx, nowMs: number, untilMs: number, limit: number): Promise<MailRow[]> {
  return tx.run(CLAIM_MAILS, [new Date(nowMs), new Date(untilMs), limit]);
}

const LIST_SEALED_MAILS = statement<Pick<MailRow, 'id' | 'sealed'>>(
  'list_sealed_mails',
  'SELECT id, sealed FROM mails WHERE id > $1 ORDER BY id LIMIT $2',
);

export async function listSealedMails(
  tx: MailTx,
  after: string,
  limit: number,
): Promise<Pick<MailRow, 'id' | 'sealed'>[]> {
  return tx.run(LIST_SEALED_MAILS, [after || FIRST_ID, limit]);
}

const READ_MAILS_WAITING = statement<{ count: number; oldest: Date | null }>(
  'read_mails_waiting',
  'SELECT count(*)::integer AS count, min(created_at) AS oldest FROM mails',
);

/** How many, and when the oldest of them was written. There is a bound to how many there can be. */
export async function readMailsWaiting(tx: MailTx): Promise<{ readonly count: number; readonly oldest: Date | null }> {
  return (await tx.run(READ_MAILS_WAITING, []))[0] ?? { count: 0, oldest: null };
}

const POSTPONE_MAIL = statement<never>(
  'postpone_mail',
  'UPDATE mails SET due_at = $3, attempts = attempts - $4 WHERE id = $1 AND attempts = $2',
);

/** Makes it due then. A try that was given up before its time is not counted. Nothing where somebody else has it. */
export async function postponeMail(
  tx: MailTx,
  { id, attempts }: MailRow,
  dueAtMs: number,
  isCounted: boolean,
): Promise<void> {
  await tx.run(POSTPONE_MAIL, [id, attempts, new Date(dueAtMs), isCounted ? 0 : 1]);
}

const DELETE_MAIL = statement<never>('delete_mail', 'DELETE FROM mails WHERE id = $1 AND attempts = $2');

/** Nothing where somebody else has it. */
export async function deleteMail(tx: MailTx, { id, attempts }: MailRow): Promise<void> {
  await tx.run(DELETE_MAIL, [id, attempts]);
}
