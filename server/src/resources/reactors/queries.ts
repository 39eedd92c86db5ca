import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

export interface ReactorRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly name: string;
  readonly application_id: string | null;
  readonly version: number;
  readonly sealed: Buffer;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly modified_by: string | null;
  readonly modified_at: Date | null;
}

/** What the records of a page may have together without asking for room. */
export const FREE_PAGE_BYTES = 65_536;

const COLUMNS = `tenant_id, id, name, application_id, version, sealed, created_by, created_at, modified_by, modified_at`;

const INSERT_REACTOR = statement<never>(
  'insert_reactor',
  `INSERT INTO reactors (tenant_id, id, name, application_id, version, sealed, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export async function insertReactor(tx: TenantTx, row: ReactorRow): Promise<void> {
  const { id, name, application_id, version, sealed, created_by, created_at } = row;
  await tx.run(INSERT_REACTOR, [tx.tenantId, id, name, application_id, version, sealed, created_by, created_at]);
}

const FIND_REACTOR = statement<ReactorRow>(
  'find_reactor',
  `SELECT ${COLUMNS} FROM reactors WHERE tenant_id = $1 AND id = $2`,
);

export async function findReactor(tx: TenantTx, id: string): Promise<ReactorRow | undefined> {
  return (await tx.run(FIND_REACTOR, [tx.tenantId, id]))[0];
}

const FIND_REACTOR_ID = statement<{ id: string }>(
  'find_reactor_id',
  'SELECT id FROM reactors WHERE tenant_id = $1 AND id = $2',
);

export async function isReactor(tx: TenantTx, id: string): Promise<boolean> {
  return (await tx.run(FIND_REACTOR_ID, [tx.tenantId, id])).some((row) => row.id === id);
}

const LOCK_REACTOR = statement<ReactorRow>(
  'lock_reactor',
  `SELECT ${COLUMNS} FROM reactors WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
);

/** The same, held against other processes until this transaction ends. */
export async function lockReactor(tx: TenantTx, id: string): Promise<ReactorRow | undefined> {
  return (await tx.run(LOCK_REACTOR, [tx.tenantId, id]))[0];
}

/** Which Reactors a list has. A name is looked for as it is, a pattern in the notation of LIKE. */
export interface ReactorFilter {
  readonly ids: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly pattern?: string | undefined;
}

const ONE_OF_IDS = '($2::uuid[] IS NULL OR id = ANY ($2::uuid[]))';
const LIKE_PATTERN = `${ONE_OF_IDS} AND ($3::text IS NULL OR name LIKE $3::text)`;
/** Equality leads to the index on names. */
const WITH_NAME = `${ONE_OF_IDS} AND name = $3::text`;

/** Of a row in a list: what is sealed stays in the database where the page is large. */
export type ListedReactor = Omit<ReactorRow, 'sealed'> & { readonly sealed: Buffer | null; readonly bytes: number };

const LISTED = COLUMNS.replace('sealed', 'CASE WHEN sum(bytes) OVER () <= $6::bigint THEN sealed END AS sealed, bytes');

const listStatement = (name: string, matches: string) =>
  statement<ListedReactor>(
    name,
    `SELECT ${LISTED} FROM (
       SELECT ${COLUMNS}, octet_length(sealed) AS bytes FROM reactors WHERE tenant_id = $1 AND ${matches}
       ORDER BY created_at DESC, id DESC LIMIT $4::bigint OFFSET $5::bigint) AS page
     ORDER BY created_at DESC, id DESC`,
  );
const countStatement = (name: string, matches: string) =>
  statement<{ total: string }>(name, `SELECT count(*) AS total FROM reactors WHERE tenant_id = $1 AND ${matches}`);

const LIST_REACTORS = listStatement('list_reactors', LIKE_PATTERN);
const LIST_REACTORS_BY_NAME = listStatement('list_reactors_by_name', WITH_NAME);
const COUNT_REACTORS = countStatement('count_reactors', LIKE_PATTERN);
const COUNT_REACTORS_BY_NAME = countStatement('count_reactors_by_name', WITH_NAME);

/** Whole where all of the page have at most so many bytes together. */
export async function listReactors(
  tx: TenantTx,
  { ids, name, pattern }: ReactorFilter,
  { limit, offset, bytesMax }: { readonly limit: number; readonly offset: number; readonly bytesMax: number },
): Promise<ListedReactor[]> {
  const list = name === undefined ? LIST_REACTORS : LIST_REACTORS_BY_NAME;
  return tx.run(list, [tx.tenantId, ids ?? null, name ?? pattern ?? null, limit, offset, bytesMax]);
}

export async function countReactors(tx: TenantTx, { ids, name, pattern }: ReactorFilter): Promise<number> {
  const count = name === undefined ? COUNT_REACTORS : COUNT_REACTORS_BY_NAME;
  const [row] = await tx.run(count, [tx.tenantId, ids ?? null, name ?? pattern ?? null]);
  return Number(row?.total ?? 0);
}

const UPDATE_REACTOR = statement<never>(
  'update_reactor',
  `UPDATE reactors SET name = $3, application_id = $4, version = $5, sealed = $6, modified_by = $7, modified_at = $8
   WHERE tenant_id = $1 AND id = $2`,
);

export async function updateReactor(tx: TenantTx, row: ReactorRow): Promise<void> {
  const { id, name, application_id, version, sealed, modified_by, modified_at } = row;
  await tx.run(UPDATE_REACTOR, [tx.tenantId, id, name, application_id, version, sealed, modified_by, modified_at]);
}

const DELETE_REACTOR = statement<never>('delete_reactor', 'DELETE FROM reactors WHERE tenant_id = $1 AND id = $2');

/** Its versions go with it. */
export async function deleteReactor(tx: TenantTx, id: string): Promise<void> {
  await tx.run(DELETE_REACTOR, [tx.tenantId, id]);
}

const WALK_REACTORS = statement<ReactorRow>(
  'walk_reactors',
  `SELECT ${COLUMNS} FROM reactors WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

/** In the order of their ids, for whoever goes over all of them. */
export async function walkReactors(tx: TenantTx, after: string, limit: number): Promise<ReactorRow[]> {
  return tx.run(WALK_REACTORS, [tx.tenantId, after, limit]);
}

const REPLACE_SEALED_REACTOR = statement<{ id: string }>(
  'replace_sealed_reactor',
  'UPDATE reactors SET sealed = $4 WHERE tenant_id = $1 AND id = $2 AND sealed = $3 RETURNING id',
);

/** Writes the same content under another key, unless somebody wrote in between. */
export async function replaceSealedReactor(tx: TenantTx, row: ReactorRow, sealed: Buffer): Promise<boolean> {
  return (await tx.run(REPLACE_SEALED_REACTOR, [tx.tenantId, row.id, row.sealed, sealed])).length > 0;
}
