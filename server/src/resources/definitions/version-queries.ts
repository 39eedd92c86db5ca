import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import type { Listed } from './queries.js';

export interface VersionRow {
  readonly tenant_id: string;
  /** Whose version it is. */
  readonly definition_id: string;
  readonly version: number;
  readonly sealed: Buffer;
  readonly created_by: string | null;
  readonly created_at: Date;
}

export interface VersionTable {
  readonly table: string;
  /** `reactor` */
  readonly one: string;
  /** The column of what a version belongs to. */
  readonly owner: string;
}

export interface VersionQueries
  extends ReturnType<typeof keepingQueries>,
    ReturnType<typeof readingQueries>,
    ReturnType<typeof goingOverQueries> {}

export function createVersionQueries(of: VersionTable): VersionQueries {
  return { ...keepingQueries(of), ...readingQueries(of), ...goingOverQueries(of) };
}

function keepingQueries({ table, one, owner }: VersionTable) {
  const INSERT = statement<never>(
    `insert_${one}_version`,
    `INSERT INTO ${table} (tenant_id, ${owner}, version, sealed, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
  );
  const DELETE_OLD = statement<never>(
    `delete_old_${one}_versions`,
    `DELETE FROM ${table} WHERE tenant_id = $1 AND ${owner} = $2 AND version = ANY (ARRAY(
       SELECT version FROM ${table} WHERE tenant_id = $1 AND ${owner} = $2
       ORDER BY version DESC OFFSET $3::bigint))`,
  );
  return {
    insert: async (tx: TenantTx, row: VersionRow): Promise<void> => {
      const { definition_id, version, sealed, created_by, created_at } = row;
      await tx.run(INSERT, [tx.tenantId, definition_id, version, sealed, created_by, created_at]);
    },
    /** All but the newest `kept`. */
    deleteOld: async (tx: TenantTx, id: string, kept: number): Promise<void> => {
      await tx.run(DELETE_OLD, [tx.tenantId, id, kept]);
    },
  };
}

function readingQueries({ table, one, owner }: VersionTable) {
  const columns = `tenant_id, ${owner} AS definition_id, version, sealed, created_by, created_at`;
  const LIST = statement<Listed<VersionRow>>(
    `list_${one}_versions`,
    `SELECT tenant_id, definition_id, version, created_by, created_at, bytes,
       CASE WHEN sum(bytes) OVER () <= $3::bigint THEN sealed END AS sealed
     FROM (SELECT ${columns}, octet_length(sealed) AS bytes FROM ${table}
           WHERE tenant_id = $1 AND ${owner} = $2 ORDER BY version DESC LIMIT 100) AS page
     ORDER BY version DESC`,
  );
  const FIND = statement<VersionRow>(
    `find_${one}_version`,
    `SELECT ${columns} FROM ${table} WHERE tenant_id = $1 AND ${owner} = $2 AND version = $3`,
  );
  return {
    /** Newest first; whole where all of them have at most so many bytes together. */
    list: async (tx: TenantTx, id: string, bytesMax: number): Promise<Listed<VersionRow>[]> =>
      tx.run(LIST, [tx.tenantId, id, bytesMax]),
    find: async (tx: TenantTx, id: string, version: number): Promise<VersionRow | undefined> =>
      (await tx.run(FIND, [tx.tenantId, id, version]))[0],
  };
}

function goingOverQueries({ table, one, owner }: VersionTable) {
  const columns = `tenant_id, ${owner} AS definition_id, version, sealed, created_by, created_at`;
  const WALK = statement<VersionRow>(
    `walk_${one}_versions`,
    `SELECT ${columns} FROM ${table} WHERE tenant_id = $1 AND (${owner}, version) > ($2::uuid, $3::integer)
     ORDER BY ${owner}, version LIMIT $4`,
  );
  const REPLACE_SEALED = statement<{ version: number }>(
    `replace_sealed_${one}_version`,
    `UPDATE ${table} SET sealed = $4 WHERE tenant_id = $1 AND ${owner} = $2 AND version = $3 RETURNING version`,
  );
  return {
    walk: async (
      tx: TenantTx,
      after: Pick<VersionRow, 'definition_id' | 'version'>,
      limit: number,
    ): Promise<VersionRow[]> => tx.run(WALK, [tx.tenantId, after.definition_id, after.version, limit]),
    /** A version never changes, so only another key can have been put on it in between. */
    replaceSealed: async (tx: TenantTx, row: VersionRow, sealed: Buffer): Promise<boolean> =>
      (await tx.run(REPLACE_SEALED, [tx.tenantId, row.definition_id, row.version, sealed])).length > 0,
  };
}
