import type { TenantTx } from '../../../storage/scope.js';
import { statement } from '../../../storage/statement.js';

export interface VersionRow {
  readonly tenant_id: string;
  readonly reactor_id: string;
  readonly version: number;
  readonly sealed: Buffer;
  readonly created_by: string | null;
  readonly created_at: Date;
}

const COLUMNS = 'tenant_id, reactor_id, version, sealed, created_by, created_at';

const INSERT_REACTOR_VERSION = statement<never>(
  'insert_reactor_version',
  `INSERT INTO reactor_versions (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)`,
);

export async function insertReactorVersion(tx: TenantTx, row: VersionRow): Promise<void> {
  const { reactor_id, version, sealed, created_by, created_at } = row;
  await tx.run(INSERT_REACTOR_VERSION, [tx.tenantId, reactor_id, version, sealed, created_by, created_at]);
}

const DELETE_OLD_REACTOR_VERSIONS = statement<never>(
  'delete_old_reactor_versions',
  `DELETE FROM reactor_versions WHERE tenant_id = $1 AND reactor_id = $2 AND version = ANY (ARRAY(
     SELECT version FROM reactor_versions WHERE tenant_id = $1 AND reactor_id = $2
     ORDER BY version DESC OFFSET $3::bigint))`,
);

/** All but the newest `kept`. */
export async function deleteOldReactorVersions(tx: TenantTx, reactorId: string, kept: number): Promise<void> {
  await tx.run(DELETE_OLD_REACTOR_VERSIONS, [tx.tenantId, reactorId, kept]);
}

/** Of a version in a list: what is sealed stays in the database where the list is large. */
export type ListedVersion = Omit<VersionRow, 'sealed'> & { readonly sealed: Buffer | null; readonly bytes: number };

const LIST_REACTOR_VERSIONS = statement<ListedVersion>(
  'list_reactor_versions',
  `SELECT tenant_id, reactor_id, version, created_by, created_at, bytes,
     CASE WHEN sum(bytes) OVER () <= $3::bigint THEN sealed END AS sealed
   FROM (SELECT ${COLUMNS}, octet_length(sealed) AS bytes FROM reactor_versions
         WHERE tenant_id = $1 AND reactor_id = $2 ORDER BY version DESC LIMIT 100) AS page
   ORDER BY version DESC`,
);

/** Newest first; whole where all of them have at most so many bytes together. */
export async function listReactorVersions(tx: TenantTx, reactorId: string, bytesMax: number): Promise<ListedVersion[]> {
  return tx.run(LIST_REACTOR_VERSIONS, [tx.tenantId, reactorId, bytesMax]);
}

const FIND_REACTOR_VERSION = statement<VersionRow>(
  'find_reactor_version',
  `SELECT ${COLUMNS} FROM reactor_versions WHERE tenant_id = $1 AND reactor_id = $2 AND version = $3`,
);

export async function findReactorVersion(
  tx: TenantTx,
  reactorId: string,
  version: number,
): Promise<VersionRow | undefined> {
  return (await tx.run(FIND_REACTOR_VERSION, [tx.tenantId, reactorId, version]))[0];
}

const WALK_REACTOR_VERSIONS = statement<VersionRow>(
  'walk_reactor_versions',
  `SELECT ${COLUMNS} FROM reactor_versions WHERE tenant_id = $1 AND (reactor_id, version) > ($2::uuid, $3::integer)
   ORDER BY reactor_id, version LIMIT $4`,
);

export async function walkReactorVersions(
  tx: TenantTx,
  after: Pick<VersionRow, 'reactor_id' | 'version'>,
  limit: number,
): Promise<VersionRow[]> {
  return tx.run(WALK_REACTOR_VERSIONS, [tx.tenantId, after.reactor_id, after.version, limit]);
}

const REPLACE_SEALED_VERSION = statement<{ version: number }>(
  'replace_sealed_reactor_version',
  `UPDATE reactor_versions SET sealed = $4 WHERE tenant_id = $1 AND reactor_id = $2 AND version = $3 RETURNING version`,
);

/** A version never changes, so only another key can have been put on it in between. */
export async function replaceSealedVersion(tx: TenantTx, row: VersionRow, sealed: Buffer): Promise<boolean> {
  return (await tx.run(REPLACE_SEALED_VERSION, [tx.tenantId, row.reactor_id, row.version, sealed])).length > 0;
}
