import { byteaArray, int4Array, textArray, timestampArray, uuidArray } from '../storage/binary-array.js';
import type { AskedPart, Bulk } from '../storage/bulk.js';
import { bulkWrite } from '../storage/bulk.js';
import { Overtaken } from '../storage/faults.js';
import { givenInsert, givenStatement } from '../storage/given.js';
import type { TenantTx } from '../storage/scope.js';
import type { Value } from '../storage/statement.js';
import { distributedStatement, statement } from '../storage/statement.js';
import type { BareRow, FoundRow, SentRow, TokenRow } from './stored/row.js';
import { isLarge, received, SENT_COLUMNS, sentColumnsWithin, TOKEN_COLUMNS } from './stored/row.js';
import { splitTerms } from './stored/terms.js';

/** Where a bulk statement stands when several are due: behind claims; tokens, what hangs on them, then looking. */
const ORDER = { write: 20, terms: 30, find: 40 };

export interface TokenKey {
  readonly tenantId: string;
  readonly id: string;
}

/** Tokens found for everybody who asked together; each caller takes its own. */
export interface FoundTokens {
  get(key: TokenKey): FoundRow | undefined;
}

/** Ids may hold anything but a few characters; a tenant's id is of one length, so no two keys read alike. */
function nameOf(tenantId: string, id: string): string {
  return `${tenantId}${id}`;
}

function byKey(rows: readonly SentRow[]): FoundTokens {
  const found = new Map(rows.map((row) => [nameOf(row.tenant_id, row.id), received(row)]));
  return { get: ({ tenantId, id }) => found.get(nameOf(tenantId, id)) };
}

function keyColumns(keys: readonly TokenKey[]): Value[] {
  const sorted = distinctKeys(keys);
  return [uuidArray(sorted.map(({ tenantId }) => tenantId)), textArray(sorted.map(({ id }) => id))];
}

/** Sorted, because one form of the statement locks what it finds. */
function distinctKeys(keys: readonly TokenKey[]): TokenKey[] {
  const names = new Map(keys.map((key) => [nameOf(key.tenantId, key.id), key]));
  return [...names].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, key]) => key);
}

/** A range of one id, in order: only the primary key gives that, whatever the server believes about the table. */
export const BY_ID = 't.id >= given.id AND t.id <= given.id';

/**
 * A record up to this size comes with its row; a larger one has to be asked for. Many callers share a statement, and what
 * one of them asks for must not hold up the answers of all others, nor fill the memory.
 */
export const SHARED_BYTES_MAX = 65_536;

function findTokens(name: string, lock: string, columns: string): Bulk<TokenKey, SentRow, FoundTokens> {
  const many = givenStatement<SentRow>(
    name,
    ({ rows, tenant }) =>
      `SELECT ${columns} FROM ${rows('tenant_id uuid', 'id text')}
         CROSS JOIN LATERAL (SELECT ${TOKEN_COLUMNS} FROM tokens AS t
                             WHERE t.tenant_id = ${tenant} AND ${BY_ID} ORDER BY t.id LIMIT 1 ${lock}) AS t`,
  );
  // Citus plans this in half the time.
  const one = distributedStatement<SentRow>(
    `${name}_alone`,
    `SELECT ${columns} FROM tokens AS t
     WHERE t.tenant_id = $1 AND t.id >= $2 AND t.id <= $2 ORDER BY t.id LIMIT 1 ${lock}`,
  );
  return {
    statement: many,
    order: ORDER.find,
    values: keyColumns,
    collect: byKey,
    distributed(tenantId, keys) {
      const [first, ...others] = distinctKeys(keys);
      if (first !== undefined && others.length === 0) return [{ statement: one, values: [tenantId, first.id] }];
      return [{ statement: many, values: [tenantId, ...keyColumns(keys).slice(1)] }];
    },
  };
}

const SMALL_COLUMNS = sentColumnsWithin(String(SHARED_BYTES_MAX));

export const FIND_TOKENS = findTokens('find_tokens', '', SMALL_COLUMNS);

/** What a caller who looks for many tokens brings along of each. */
const BRIEF_BYTES_MAX = 4_096;
export const FIND_MANY_TOKENS = findTokens('find_many_tokens', '', sentColumnsWithin(String(BRIEF_BYTES_MAX)));

/** Finds them and keeps others from changing them until the transaction ends. */
export const LOCK_TOKENS = findTokens('lock_tokens', 'FOR UPDATE', SMALL_COLUMNS);

const FIND_WHOLE = findTokens('find_whole_tokens', '', SENT_COLUMNS);

/** These tokens as they are now, however large: the caller has room for them. One that is gone is left out. */
export async function findWholeTokens(tx: TenantTx, ids: readonly string[]): Promise<TokenRow[]> {
  const keys = ids.map((id) => ({ tenantId: tx.tenantId, id }));
  const found = await tx.gather(FIND_WHOLE, keys);
  return keys.flatMap((key) => found.get(key) ?? []).filter((row) => !isLarge(row));
}

/** Ids found for everybody who asked together. A token whose time is over stands in nobody's way. */
export interface FoundIds {
  isLive(key: TokenKey, nowMs: number): boolean;
}

/** Only whether tokens are there: what they hold does not travel. */
export const FIND_IDS: Bulk<TokenKey, Pick<TokenRow, 'tenant_id' | 'id' | 'expires_at'>, FoundIds> = {
  statement: givenStatement(
    'find_token_ids',
    ({ rows, tenant }) =>
      `SELECT t.tenant_id, t.id, t.expires_at FROM ${rows('tenant_id uuid', 'id text')}
       CROSS JOIN LATERAL (SELECT t.tenant_id, t.id, t.expires_at FROM tokens AS t
                           WHERE t.tenant_id = ${tenant} AND ${BY_ID} ORDER BY t.id LIMIT 1) AS t`,
  ),
  order: ORDER.find,
  values: keyColumns,
  collect(rows) {
    const found = new Map(rows.map((row) => [nameOf(row.tenant_id, row.id), row.expires_at]));
    return {
      isLive({ tenantId, id }, nowMs) {
        const expiresAt = found.get(nameOf(tenantId, id));
        return expiresAt !== undefined && (expiresAt === null || expiresAt.getTime() > nowMs);
      },
    };
  },
};

type RowName = Pick<TokenRow, 'tenant_id' | 'id'>;

/**
 * Callers who share a statement may name the same token. The first of them is the one that is served, so rows are told
 * apart by identity.
 */
function firstByName<Row extends BareRow>(rows: readonly Row[]): Map<string, Row> {
  const first = new Map<string, Row>();
  for (const row of rows) {
    const name = nameOf(row.tenant_id, row.id);
    if (!first.has(name)) first.set(name, row);
  }
  return first;
}

/** Sorted, so that two transactions take their locks in one order. */
function firstOfEach<Row extends BareRow>(rows: readonly Row[]): Row[] {
  return [...firstByName(rows)].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
}

function served<Row extends BareRow>(results: readonly RowName[], rows: readonly Row[]): ReadonlySet<Row> {
  const first = firstByName(rows);
  const found = new Set<Row>();
  for (const { tenant_id, id } of results) {
    const row = first.get(nameOf(tenant_id, id));
    if (row) found.add(row);
  }
  return found;
}

/** What a token holds, from its end on. */
function contentColumns(rows: readonly TokenRow[]): Value[] {
  return [
    timestampArray(rows.map((row) => row.expires_at?.getTime() ?? null)),
    timestampArray(rows.map((row) => row.cvc_expires_at?.getTime() ?? null)),
    byteaArray(rows.map((row) => row.fingerprint)),
    byteaArray(rows.map((row) => row.terms)),
    int4Array(rows.map((row) => row.data_version)),
    byteaArray(rows.map((row) => row.sealed)),
    byteaArray(rows.map((row) => row.match_digest ?? null)),
  ];
}

const INSERT_TOKENS: Bulk<TokenRow, RowName, ReadonlySet<TokenRow>> = {
  statement: givenInsert('insert_tokens', {
    into: 'tokens',
    columns: [
      ...['tenant_id uuid', 'id text', 'type text', 'group_id uuid', 'created_at timestamptz', 'tie uuid'],
      ...[
        'created_by uuid',
        'expires_at timestamptz',
        'cvc_expires_at timestamptz',
        'fingerprint bytea',
        'terms bytea',
      ],
      ...['data_version int', 'sealed bytea', 'match_digest bytea'],
    ],
    end: 'ON CONFLICT DO NOTHING RETURNING tenant_id, id',
  }),
  order: ORDER.write,
  values: (asked) => {
    const rows = firstOfEach(asked);
    return [
      uuidArray(rows.map((row) => row.tenant_id)),
      textArray(rows.map((row) => row.id)),
      textArray(rows.map((row) => row.type)),
      uuidArray(rows.map((row) => row.group_id)),
      timestampArray(rows.map((row) => row.created_at.getTime())),
      uuidArray(rows.map((row) => row.tie)),
      uuidArray(rows.map((row) => row.created_by)),
      ...contentColumns(rows),
    ];
  },
  collect: served,
};

/** Returns the rows whose id was free. */
export async function insertTokens(tx: TenantTx, rows: readonly TokenRow[]): Promise<TokenRow[]> {
  const inserted = await tx.gather(INSERT_TOKENS, rows);
  return rows.filter((row) => inserted.has(row));
}

type TermRow = Pick<TokenRow, 'tenant_id' | 'created_at' | 'tie' | 'terms'>;

function termColumns(tokens: readonly TermRow[]): Value[] {
  const rows = tokens.flatMap((token) => splitTerms(token.terms).map((term) => ({ token, term })));
  return [
    uuidArray(rows.map(({ token }) => token.tenant_id)),
    byteaArray(rows.map(({ term }) => term)),
    timestampArray(rows.map(({ token }) => token.created_at.getTime())),
    uuidArray(rows.map(({ token }) => token.tie)),
  ];
}

const TERM_COLUMNS = ['tenant_id uuid', 'term bytea', 'created_at timestamptz', 'tie uuid'];

const INSERT_TERMS = bulkWrite<TermRow>(
  givenInsert('insert_token_terms', { into: 'token_terms', columns: TERM_COLUMNS, end: 'ON CONFLICT DO NOTHING' }),
  ORDER.terms + 1,
  termColumns,
);

export async function insertTerms(tx: TenantTx, tokens: readonly TermRow[]): Promise<void> {
  const found = tokens.filter(({ terms }) => terms.length > 0);
  if (found.length > 0) await tx.gather(INSERT_TERMS, found);
}

const DELETE_TERMS = bulkWrite<TermRow>(
  givenStatement(
    'delete_token_terms',
    ({ rows, tenant, isOf }) =>
      `DELETE FROM token_terms AS d
       USING (SELECT t.tenant_id, t.place FROM ${rows(...TERM_COLUMNS)}
              CROSS JOIN LATERAL (SELECT t.tenant_id, t.ctid AS place FROM token_terms AS t
                                  WHERE t.tenant_id = ${tenant} AND t.term = given.term
                                    AND t.created_at = given.created_at AND t.tie = given.tie LIMIT 1) AS t) AS found
       WHERE ${isOf('d', 'found')} AND d.ctid = found.place`,
  ),
  ORDER.terms,
  termColumns,
);

export async function deleteTerms(tx: TenantTx, tokens: readonly TermRow[]): Promise<void> {
  const found = tokens.filter(({ terms }) => terms.length > 0);
  if (found.length > 0) await tx.gather(DELETE_TERMS, found);
}

/** A token as it is to be, in place of the version that was read. */
interface TokenChange extends TokenRow {
  readonly replaces: number;
}

const UPDATE_TOKENS: Bulk<TokenChange, RowName, ReadonlySet<TokenChange>> = {
  statement: statement(
    'update_tokens',
    `UPDATE tokens AS u
     SET group_id = found.group_id, modified_by = found.modified_by, modified_at = found.modified_at,
       expires_at = found.expires_at, cvc_expires_at = found.cvc_expires_at, fingerprint = found.fingerprint,
       terms = found.terms, data_version = found.data_version, sealed = found.sealed,
       match_digest = coalesce(found.match_digest, u.match_digest)
     FROM (SELECT t.tenant_id, t.token, t.version, given.group_id, given.modified_by, given.modified_at,
             given.expires_at, given.cvc_expires_at, given.fingerprint, given.terms, given.data_version, given.sealed,
             given.match_digest
           FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[], $6::timestamptz[],
                       $7::timestamptz[], $8::bytea[], $9::bytea[], $10::int[], $11::bytea[], $12::bytea[], $13::int[])
             AS given (tenant_id, id, group_id, modified_by, modified_at, expires_at, cvc_expires_at, fingerprint, terms,
                       data_version, sealed, match_digest, replaces)
           CROSS JOIN LATERAL (SELECT t.tenant_id, t.ctid AS token, given.replaces AS version FROM tokens AS t
                               WHERE t.tenant_id = given.tenant_id AND ${BY_ID} ORDER BY t.id LIMIT 1) AS t) AS found
     WHERE u.tenant_id = found.tenant_id AND u.ctid = found.token AND u.data_version = found.version
     RETURNING u.tenant_id, u.id`,
  ),
  order: ORDER.write,
  values: (asked) => {
    const rows = firstOfEach(asked);
    return [
      uuidArray(rows.map((row) => row.tenant_id)),
      textArray(rows.map((row) => row.id)),
      uuidArray(rows.map((row) => row.group_id)),
      uuidArray(rows.map((row) => row.modified_by)),
      timestampArray(rows.map((row) => row.modified_at?.getTime() ?? null)),
      ...contentColumns(rows),
      int4Array(rows.map((row) => row.replaces)),
    ];
  },
  collect: served,
  distributed: (tenantId, asked) => firstOfEach(asked).map((row) => updateAlone(tenantId, row)),
};

/** One of them by itself, which Citus plans in less time. */
const UPDATE_ALONE = distributedStatement<unknown>(
  'update_tokens_alone',
  `UPDATE tokens AS u SET group_id = $3, modified_by = $4, modified_at = $5, expires_at = $6, cvc_expires_at = $7,
     fingerprint = $8, terms = $9, data_version = $10, sealed = $11, match_digest = coalesce($12, u.match_digest)
   FROM (SELECT t.ctid AS token FROM (SELECT $1::uuid AS tenant_id, $2::text AS id) AS given
         CROSS JOIN LATERAL (SELECT t.ctid FROM tokens AS t
                             WHERE t.tenant_id = $1 AND ${BY_ID} ORDER BY t.id LIMIT 1) AS t) AS found
   WHERE u.tenant_id = $1 AND u.ctid = found.token AND u.data_version = $13 RETURNING u.tenant_id, u.id`,
);

function updateAlone(tenantId: string, row: TokenChange): AskedPart<RowName> {
  const { id, group_id, modified_by, modified_at, expires_at, cvc_expires_at } = row;
  const ends = [modified_at, expires_at, cvc_expires_at];
  const content = [row.fingerprint, row.terms, row.data_version, row.sealed, row.match_digest ?? null, row.replaces];
  return { statement: UPDATE_ALONE, values: [tenantId, id, group_id, modified_by, ...ends, ...content] };
}

/** A lock does not part changes that share a transaction; the version does. */
export async function updateToken(tx: TenantTx, before: TokenRow, row: TokenRow): Promise<void> {
  const change = { ...row, replaces: before.data_version };
  const updated = await tx.gather(UPDATE_TOKENS, [change]);
  if (!updated.has(change)) throw overtaken();
}

function overtaken(): Overtaken {
  return new Overtaken('somebody else changed the token in the same transaction');
}

const DELETE_TOKENS: Bulk<BareRow, RowName, ReadonlySet<BareRow>> = {
  statement: givenStatement(
    'delete_tokens',
    ({ rows, tenant, isOf }) =>
      `DELETE FROM tokens AS d
       USING (SELECT t.tenant_id, t.token, t.data_version
              FROM ${rows('tenant_id uuid', 'id text', 'data_version int')}
              CROSS JOIN LATERAL (SELECT t.tenant_id, t.ctid AS token, given.data_version FROM tokens AS t
                                  WHERE t.tenant_id = ${tenant} AND ${BY_ID} ORDER BY t.id LIMIT 1) AS t) AS found
       WHERE ${isOf('d', 'found')} AND d.ctid = found.token AND d.data_version = found.data_version
       RETURNING d.tenant_id, d.id`,
  ),
  order: ORDER.write,
  values: (asked) => {
    const rows = firstOfEach(asked);
    return [rows.map((row) => row.tenant_id), rows.map((row) => row.id), rows.map((row) => row.data_version)];
  },
  collect: served,
};

/** Deletes rows as they were read. */
export async function deleteTokens(tx: TenantTx, rows: readonly BareRow[]): Promise<void> {
  // Who looked together was given the same rows; each caller is to be told apart.
  const own = rows.map((row) => ({ ...row }));
  const deleted = await tx.gather(DELETE_TOKENS, own);
  if (!own.every((row) => deleted.has(row))) throw overtaken();
}
