import type { TenantTx } from '../../storage/scope.js';
import type { Value } from '../../storage/statement.js';
import { statement } from '../../storage/statement.js';

/** A definition as it is stored. A kind may have further columns that its rows are found by. */
export interface DefinitionRow {
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

/** Where the rows of a kind are, and what its statements are called by. */
export interface RowTable<Row> {
  readonly table: string;
  /** `reactor` */
  readonly one: string;
  /** `reactors` */
  readonly many: string;
  /** Columns beside those that every definition has. */
  readonly further?: Readonly<Record<string, (row: Row) => Value>>;
  /** What else is written with a row. */
  readonly beside?: (tx: TenantTx, row: Row) => Promise<void>;
}

/** What the records of a page may have together without asking for room. */
export const FREE_PAGE_BYTES = 65_536;

/** Which of them a list has. A name is looked for as it is, a pattern in the notation of LIKE. */
export interface DefinitionFilter {
  readonly ids: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly pattern?: string | undefined;
}

export interface RowPage {
  readonly limit: number;
  readonly offset: number;
  /** What is sealed is read only where all of the page have at most so many bytes together. */
  readonly bytesMax: number;
}

/** A row of a list: what is sealed stays in the database where the list is large. */
export type Listed<Row> = Omit<Row, 'sealed'> & { readonly sealed: Buffer | null; readonly bytes: number };

export interface RowQueries<Row extends DefinitionRow>
  extends ReturnType<typeof singleQueries<Row>>,
    ReturnType<typeof writeQueries<Row>>,
    ReturnType<typeof pageQueries<Row>>,
    ReturnType<typeof walkQueries<Row>> {}

/** The statements of a kind, one function each. */
export function createRowQueries<Row extends DefinitionRow>(of: RowTable<Row>): RowQueries<Row> {
  return { ...singleQueries(of), ...writeQueries(of), ...pageQueries(of), ...walkQueries(of) };
}

const SHARED = 'tenant_id, id, name, application_id, version, sealed, created_by, created_at, modified_by, modified_at';

function columnsOf<Row>({ further = {} }: RowTable<Row>): string {
  return [SHARED, ...Object.keys(further)].join(', ');
}

function singleQueries<Row extends DefinitionRow>(of: RowTable<Row>) {
  const { table, one } = of;
  const columns = columnsOf(of);
  const FIND = statement<Row>(`find_${one}`, `SELECT ${columns} FROM ${table} WHERE tenant_id = $1 AND id = $2`);
  const FIND_ID = statement<{ id: string }>(
    `find_${one}_id`,
    `SELECT id FROM ${table} WHERE tenant_id = $1 AND id = $2`,
  );
  const LOCK = statement<Row>(
    `lock_${one}`,
    `SELECT ${columns} FROM ${table} WHERE tenant_id = $1 AND id = $2 FOR NO KEY UPDATE`,
  );
  return {
    find: async (tx: TenantTx, id: string): Promise<Row | undefined> => (await tx.run(FIND, [tx.tenantId, id]))[0],
    isThere: async (tx: TenantTx, id: string): Promise<boolean> =>
      (await tx.run(FIND_ID, [tx.tenantId, id])).some((row) => row.id === id),
    /** As `find`, held against other processes until this transaction ends. */
    lock: async (tx: TenantTx, id: string): Promise<Row | undefined> => (await tx.run(LOCK, [tx.tenantId, id]))[0],
  };
}

function writeQueries<Row extends DefinitionRow>({ table, one, further = {}, beside }: RowTable<Row>) {
  const names = Object.keys(further);
  const valuesOf = (row: Row): Value[] => Object.values(further).map((read) => read(row));
  const more = names.map((name) => `, ${name}`).join('');
  const places = names.map((_, n) => `, $${n + 9}`).join('');
  const changes = names.map((name, n) => `, ${name} = $${n + 9}`).join('');
  const INSERT = statement<never>(
    `insert_${one}`,
    `INSERT INTO ${table} (tenant_id, id, name, application_id, version, sealed, created_by, created_at${more})
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8${places})`,
  );
  const UPDATE = statement<never>(
    `update_${one}`,
    `UPDATE ${table} SET name = $3, application_id = $4, version = $5, sealed = $6, modified_by = $7, modified_at = $8${changes}
     WHERE tenant_id = $1 AND id = $2`,
  );
  const DELETE = statement<never>(`delete_${one}`, `DELETE FROM ${table} WHERE tenant_id = $1 AND id = $2`);
  return {
    insert: async (tx: TenantTx, row: Row): Promise<void> => {
      const { id, name, application_id, version, sealed, created_by, created_at } = row;
      const values = [tx.tenantId, id, name, application_id, version, sealed, created_by, created_at];
      await Promise.all([tx.run(INSERT, [...values, ...valuesOf(row)]), beside?.(tx, row)]);
    },
    update: async (tx: TenantTx, row: Row): Promise<void> => {
      const { id, name, application_id, version, sealed, modified_by, modified_at } = row;
      const values = [tx.tenantId, id, name, application_id, version, sealed, modified_by, modified_at];
      await Promise.all([tx.run(UPDATE, [...values, ...valuesOf(row)]), beside?.(tx, row)]);
    },
    /** Its versions go with it. */
    delete: async (tx: TenantTx, id: string): Promise<void> => {
      await tx.run(DELETE, [tx.tenantId, id]);
    },
  };
}

const ONE_OF_IDS = '($2::uuid[] IS NULL OR id = ANY ($2::uuid[]))';
const LIKE_PATTERN = `${ONE_OF_IDS} AND ($3::text IS NULL OR name LIKE $3::text)`;
/** Equality leads to the index on names. */
const WITH_NAME = `${ONE_OF_IDS} AND name = $3::text`;

function pageQueries<Row extends DefinitionRow>(of: RowTable<Row>) {
  const { table, many } = of;
  const columns = columnsOf(of);
  const listed = columns.replace(
    'sealed',
    'CASE WHEN sum(bytes) OVER () <= $6::bigint THEN sealed END AS sealed, bytes',
  );
  const listStatement = (name: string, matches: string) =>
    statement<Listed<Row>>(
      name,
      `SELECT ${listed} FROM (
         SELECT ${columns}, octet_length(sealed) AS bytes FROM ${table} WHERE tenant_id = $1 AND ${matches}
         ORDER BY created_at DESC, id DESC LIMIT $4::bigint OFFSET $5::bigint) AS page
       ORDER BY created_at DESC, id DESC`,
    );
  const countStatement = (name: string, matches: string) =>
    statement<{ total: string }>(name, `SELECT count(*) AS total FROM ${table} WHERE tenant_id = $1 AND ${matches}`);
  const LIST = listStatement(`list_${many}`, LIKE_PATTERN);
  const LIST_BY_NAME = listStatement(`list_${many}_by_name`, WITH_NAME);
  const COUNT = countStatement(`count_${many}`, LIKE_PATTERN);
  const COUNT_BY_NAME = countStatement(`count_${many}_by_name`, WITH_NAME);
  return {
    /** Newest first. */
    list: async (tx: TenantTx, { ids, name, pattern }: DefinitionFilter, page: RowPage): Promise<Listed<Row>[]> => {
      const { limit, offset, bytesMax } = page;
      const list = name === undefined ? LIST : LIST_BY_NAME;
      return tx.run(list, [tx.tenantId, ids ?? null, name ?? pattern ?? null, limit, offset, bytesMax]);
    },
    count: async (tx: TenantTx, { ids, name, pattern }: DefinitionFilter): Promise<number> => {
      const count = name === undefined ? COUNT : COUNT_BY_NAME;
      const [row] = await tx.run(count, [tx.tenantId, ids ?? null, name ?? pattern ?? null]);
      return Number(row?.total ?? 0);
    },
  };
}

function walkQueries<Row extends DefinitionRow>(of: RowTable<Row>) {
  const { table, one, many } = of;
  const columns = columnsOf(of);
  const WALK = statement<Row>(
    `walk_${many}`,
    `SELECT ${columns} FROM ${table} WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3`,
  );
  const REPLACE_SEALED = statement<{ id: string }>(
    `replace_sealed_${one}`,
    `UPDATE ${table} SET sealed = $4 WHERE tenant_id = $1 AND id = $2 AND sealed = $3 RETURNING id`,
  );
  return {
    /** In the order of their ids, for whoever goes over all of them. */
    walk: async (tx: TenantTx, after: string, limit: number): Promise<Row[]> =>
      tx.run(WALK, [tx.tenantId, after, limit]),
    /** Writes the same content under another key, unless somebody wrote in between. */
    replaceSealed: async (tx: TenantTx, row: Row, sealed: Buffer): Promise<boolean> =>
      (await tx.run(REPLACE_SEALED, [tx.tenantId, row.id, row.sealed, sealed])).length > 0,
  };
}
