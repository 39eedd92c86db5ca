import { removeFromDirectory } from '../../access/directory-queries.js';
import type { SystemTx, TenantTx } from '../../storage/scope.js';
import { distributedStatement, statement } from '../../storage/statement.js';

export interface ApplicationRow {
  readonly tenant_id: string;
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly permissions: readonly string[];
  readonly rules: string;
  readonly mac: Buffer;
  readonly expires_at: Date | null;
  readonly created_by: string | null;
  readonly created_at: Date;
  readonly modified_by: string | null;
  readonly modified_at: Date | null;
}

/** What names a key that works. */
export interface NamedKeyRow {
  readonly id: string;
  readonly created_by: string | null;
  readonly created_at: Date;
}

export interface ListedApplicationRow extends ApplicationRow {
  /** Id, maker and moment of each key that works, newest first. */
  readonly keys: readonly (readonly [id: string, createdBy: string | null, createdAtMs: number])[];
}

const COLUMNS = `tenant_id, id, name, type, permissions, rules, mac, expires_at, created_by, created_at, modified_by,
  modified_at`;

const INSERT_APPLICATION = statement<never>(
  'insert_application',
  `INSERT INTO applications (tenant_id, id, name, type, permissions, rules, mac, expires_at, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
);

export async function insertApplication(tx: TenantTx, row: ApplicationRow): Promise<void> {
  const { id, name, type, permissions, rules, mac, expires_at, created_by, created_at } = row;
  await tx.run(INSERT_APPLICATION, [
    tx.tenantId,
    id,
    name,
    type,
    permissions,
    rules,
    mac,
    expires_at,
    created_by,
    created_at,
  ]);
}

/** An Application past its end is gone, whether or not it has been swept away. */
const IS_ALIVE = (now: string) => `(expires_at IS NULL OR expires_at > ${now})`;

const FIND_APPLICATION_BY_ID = statement<ApplicationRow>(
  'find_application_by_id',
  `SELECT ${COLUMNS} FROM applications WHERE tenant_id = $1 AND id = $2 AND ${IS_ALIVE('$3')}`,
);

export async function findApplicationById(
  tx: TenantTx,
  id: string,
  nowMs: number,
): Promise<ApplicationRow | undefined> {
  const [found] = await tx.run(FIND_APPLICATION_BY_ID, [tx.tenantId, id, new Date(nowMs)]);
  return found;
}

const LIST_APPLICATIONS_BY_ID = statement<ApplicationRow>(
  'list_applications_by_id',
  `SELECT ${COLUMNS} FROM applications WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) AND ${IS_ALIVE('$3')}`,
);

export async function listApplicationsById(
  tx: TenantTx,
  ids: readonly string[],
  nowMs: number,
): Promise<ApplicationRow[]> {
  return tx.run(LIST_APPLICATIONS_BY_ID, [tx.tenantId, ids, new Date(nowMs)]);
}

const LOCK_APPLICATION_BY_ID = statement<ApplicationRow>(
  'lock_application_by_id',
  `SELECT ${COLUMNS} FROM applications WHERE tenant_id = $1 AND id = $2 AND ${IS_ALIVE('$3')} FOR NO KEY UPDATE`,
);

/** The same, held against other processes until this transaction ends. */
export async function lockApplicationById(
  tx: TenantTx,
  id: string,
  nowMs: number,
): Promise<ApplicationRow | undefined> {
  const [found] = await tx.run(LOCK_APPLICATION_BY_ID, [tx.tenantId, id, new Date(nowMs)]);
  return found;
}

export interface ApplicationFilter {
  readonly ids: readonly string[] | undefined;
  readonly types: readonly string[] | undefined;
  readonly nowMs: number;
}

const MATCHES = `($2::uuid[] IS NULL OR id = ANY ($2::uuid[]))
     AND ($3::text[] IS NULL OR type = ANY ($3::text[])) AND ${IS_ALIVE('$4')}`;

/** Keys are looked for once the page is known, so that those of skipped Applications are not read. */
const LIST_APPLICATIONS = statement<ListedApplicationRow>(
  'list_applications',
  `SELECT ${COLUMNS}, (
     SELECT coalesce(json_agg(json_build_array(k.id, k.created_by, extract(epoch FROM k.created_at) * 1000)
                              ORDER BY k.created_at DESC, k.id DESC), json_build_array())
     FROM api_keys k WHERE k.tenant_id = $1 AND k.application_id = page.id
       AND (k.expires_at IS NULL OR k.expires_at > $4)) AS keys
   FROM (SELECT ${COLUMNS} FROM applications WHERE tenant_id = $1 AND ${MATCHES}
         ORDER BY created_at DESC, id DESC LIMIT $5::bigint OFFSET $6::bigint) AS page
   ORDER BY created_at DESC, id DESC`,
);

export async function listApplications(
  tx: TenantTx,
  { ids, types, nowMs }: ApplicationFilter,
  limit: number,
  offset: number,
): Promise<ListedApplicationRow[]> {
  return tx.run(LIST_APPLICATIONS, [tx.tenantId, ids ?? null, types ?? null, new Date(nowMs), limit, offset]);
}

const COUNT_APPLICATIONS = statement<{ total: string }>(
  'count_applications',
  `SELECT count(*) AS total FROM applications WHERE tenant_id = $1 AND ${MATCHES}`,
);

export async function countApplications(tx: TenantTx, { ids, types, nowMs }: ApplicationFilter): Promise<number> {
  const [row] = await tx.run(COUNT_APPLICATIONS, [tx.tenantId, ids ?? null, types ?? null, new Date(nowMs)]);
  return Number(row?.total ?? 0);
}

const UPDATE_APPLICATION = statement<never>(
  'update_application',
  `UPDATE applications SET name = $3, permissions = $4, rules = $5, mac = $6, expires_at = $7, modified_by = $8,
     modified_at = $9
   WHERE tenant_id = $1 AND id = $2`,
);

export async function updateApplication(tx: TenantTx, row: ApplicationRow): Promise<void> {
  const { id, name, permissions, rules, mac, expires_at, modified_by, modified_at } = row;
  await tx.run(UPDATE_APPLICATION, [
    tx.tenantId,
    id,
    name,
    permissions,
    rules,
    mac,
    expires_at,
    modified_by,
    modified_at,
  ]);
}

const DELETE_APPLICATIONS = statement<never>(
  'delete_applications',
  'DELETE FROM applications WHERE tenant_id = $1 AND id = ANY ($2::uuid[])',
);

/** What goes with them by a foreign key, and has an entry in the directory. */
const FIND_HASHES_OF = distributedStatement<{ hash: Buffer }>(
  'find_hashes_of_applications',
  `SELECT hash FROM api_keys WHERE tenant_id = $1 AND application_id = ANY ($2::uuid[])
   UNION ALL
   SELECT hash FROM sessions
   WHERE tenant_id = $1 AND (created_by = ANY ($2::uuid[]) OR authorized_by = ANY ($2::uuid[]))`,
);

/** Their keys, and what is left of the sessions they created or authorized, go with them. */
export async function deleteApplications(tx: TenantTx, ids: readonly string[]): Promise<void> {
  const found = await tx.run(FIND_HASHES_OF, [tx.tenantId, ids]);
  await removeFromDirectory(
    tx,
    found.map(({ hash }) => hash),
  );
  await tx.run(DELETE_APPLICATIONS, [tx.tenantId, ids]);
}

const LIST_TENANTS_WITH_DUE_APPLICATIONS = statement<{ tenant_id: string }>(
  'list_tenants_with_due_applications',
  `SELECT DISTINCT due.tenant_id FROM (
     SELECT a.tenant_id FROM applications a JOIN tenants t ON t.id = a.tenant_id AND t.deleted_at IS NULL
     WHERE a.expires_at <= $1 ORDER BY a.expires_at LIMIT $2) AS due`,
);

export async function listTenantsWithDueApplications(tx: SystemTx, nowMs: number, limit: number): Promise<string[]> {
  const found = await tx.run(LIST_TENANTS_WITH_DUE_APPLICATIONS, [new Date(nowMs), limit]);
  return found.map(({ tenant_id }) => tenant_id);
}

const LIST_DUE_APPLICATIONS = statement<{ id: string }>(
  'list_due_applications',
  `SELECT id FROM applications WHERE tenant_id = $1 AND expires_at <= $2 ORDER BY expires_at, id LIMIT $3
   FOR NO KEY UPDATE`,
);

/** Applications past their end, held until this transaction ends: a change of that end comes before or after. */
export async function listDueApplications(tx: TenantTx, nowMs: number, limit: number): Promise<string[]> {
  return (await tx.run(LIST_DUE_APPLICATIONS, [tx.tenantId, new Date(nowMs), limit])).map(({ id }) => id);
}

export interface ApplicationMacRow {
  readonly id: string;
  readonly type: string;
  readonly permissions: string[];
  readonly rules: string;
  readonly expires_at: Date | null;
  readonly mac: Buffer;
}

const LIST_APPLICATION_MACS = statement<ApplicationMacRow>(
  'list_application_macs',
  `SELECT id, type, permissions, rules, expires_at, mac FROM applications
   WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
);

export async function listApplicationMacs(tx: TenantTx, after: string, limit: number): Promise<ApplicationMacRow[]> {
  return tx.run(LIST_APPLICATION_MACS, [tx.tenantId, after, limit]);
}
