import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { operatorContext } from '../audit/entry.js';
import { countUsage } from '../vault/index.js';
import { usageOf } from './bare-tokens.js';
import { loadTrials } from './slice-trial.js';
import type { TestApp, TestTenant } from './test-app.js';

/** Tables that hold nothing of a tenant. Any other table must have a tenant_id and row-level security. */
export const TABLES_WITHOUT_TENANT = [
  'email_changes',
  'mails',
  'passkey_challenges',
  'portal_sessions',
  'root_key_check',
  'schema_migrations',
  'sign_in_failures',
  'system_keys',
  'user_authenticators',
  'user_devices',
  'user_identities',
  'user_links',
  'user_passkeys',
  'user_passwords',
  'user_recovery_codes',
  'users',
];

/** The number of a card the other tenant has as well: equal values must not meet. */
export const PAIR_CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2031, cvc: '123' };
const TOKEN_PERMISSIONS = ['token:create', 'token:read', 'token:update', 'token:delete', 'token:search', 'token:use'];

/** Whatever a request can name. */
export interface Names {
  readonly tenantId: string;
  readonly applicationId: string;
  readonly keyId: string;
  readonly tokenId: string;
  readonly alias: string;
  readonly cardId: string;
  readonly fingerprint: string;
  readonly nonce: string;
  readonly sessionId: string;
  readonly dataValue: string;
  readonly metadataValue: string;
  readonly container: string;
  readonly containerAbove: string;
  readonly logEntity: string;
  readonly logsCursor: string;
  readonly tokensCursor: string;
  readonly searchCursor: string;
  /** Those of further slices. */
  readonly [further: string]: string;
}

export interface Populated extends TestTenant {
  readonly privateKey: string;
  readonly publicKey: string;
  readonly sessionKey: string;
  readonly names: Names;
  readonly tokens: number;
}

export interface Pair {
  readonly a: Populated;
  readonly b: Populated;
  /** Texts that belong to B alone. */
  readonly secretsOfB: readonly string[];
}

export const SHARED_IDEMPOTENCY_KEY = 'order-4711';

/** Two tenants with the same kinds of data and not a word in common, but for the card and an idempotency key. */
export async function makePair(app: TestApp): Promise<Pair> {
  const a = await populate(app, 'alfa', 2);
  const b = await populate(app, 'bravo', 5);
  for (const { id } of [a, b]) {
    const parts = (await stored(app, { id })).split('\n');
    for (const part of parts) assert.match(part, /^\w+ [1-9]/, 'every table has something to lose');
  }
  const rows = await app.db.owner.query<{ id: string }>(
    `SELECT id::text FROM applications WHERE tenant_id = $1 UNION SELECT id::text FROM api_keys WHERE tenant_id = $1
     UNION SELECT id::text FROM sessions WHERE tenant_id = $1 UNION SELECT id FROM tokens WHERE tenant_id = $1`,
    [b.id],
  );
  const own = [b.id, b.ownerId, b.key, b.privateKey, b.publicKey, b.sessionKey, ...Object.values(b.names)];
  const words = ['Name bravo', 'message-bravo', 'address-bravo', 'trace-bravo'];
  return { a, b, secretsOfB: [...new Set([...own, ...words, ...rows.rows.map(({ id }) => id)])] };
}

/** A tenant with a row in every table, made over HTTP wherever there is a way. */
async function populate(app: TestApp, label: string, further: number): Promise<Populated> {
  const tenant = await app.makeTenant(`Name ${label}`);
  const post = async (key: string, path: string, body?: object, headers = {}) => {
    const answer = await app.call('POST', path, { key, headers, ...(body && { body }) });
    assert.ok(answer.status < 300, `${path}: ${answer.text}`);
    return answer.json;
  };
  const rule = { description: 'all', priority: 1, container: '/', transform: 'reveal', permissions: TOKEN_PERMISSIONS };
  const application = { name: `Application ${label}`, type: 'private', permissions: TOKEN_PERMISSIONS, rules: [rule] };
  const { id: applicationId, key: privateKey } = await post(tenant.key, '/applications', application);
  const publicApplication = { name: `Public ${label}`, type: 'public', permissions: ['token:create'] };
  const { key: publicKey } = await post(tenant.key, '/applications', publicApplication);
  const { id: keyId } = await post(tenant.key, `/applications/${applicationId}/keys`);

  const container = `/${label}/vault/`;
  const headers = { 'SVC-IDEMPOTENCY-KEY': SHARED_IDEMPOTENCY_KEY };
  const card = { type: 'card', data: PAIR_CARD, deduplicate_token: true };
  const { id: cardId, fingerprint } = await post(privateKey, '/tokens', card, headers);
  const values = {
    data: `data-${label}`,
    metadata: { note: `metadata-${label}` },
    containers: [container],
    search_indexes: ['{{ data }}'],
  };
  const { id: tokenId } = await post(privateKey, '/tokens', values);
  await post(privateKey, '/tokens', { ...values, id: `alias-${label}` });
  for (let n = 0; n < further; n += 1) await post(privateKey, '/tokens', { data: `further-${n}` });
  const session = await post(publicKey, '/sessions');
  await post(privateKey, '/sessions/authorize', { nonce: session.nonce, permissions: ['token:read'] });
  const { nonce } = await post(publicKey, '/sessions');

  await writePast(app, tenant, label);
  // A database on one server has no use for the directory, and keeps it empty.
  await app.db.owner.query('INSERT INTO credential_directory (tenant_id, hash) VALUES ($1, $2)', [tenant.id, label]);
  const logs = await app.call('GET', '/logs?size=5', { key: tenant.key });
  const list = await app.call('GET', '/v2/tokens?size=1', { key: privateKey });
  const found = await post(privateKey, '/v2/tokens/search', { query: '', size: 1 });
  const names: Names = {
    tenantId: tenant.id,
    applicationId,
    keyId,
    tokenId,
    alias: `alias-${label}`,
    cardId,
    fingerprint,
    nonce,
    sessionId: session.id,
    dataValue: `data-${label}`,
    metadataValue: `metadata-${label}`,
    container,
    containerAbove: `/${label}/`,
    logEntity: `entity-${label}-1`,
    logsCursor: logs.json.pagination.after,
    tokensCursor: list.json.pagination.after,
    searchCursor: found.pagination.after,
  };
  const made = { ...tenant, privateKey, publicKey, sessionKey: session.session_key, tokens: 3 + further };
  return { ...made, names: { ...names, ...(await furtherNames(app, made, label)) } };
}

/** What slices add themselves; without a tenant, names of the same form that belong to nobody. */
async function furtherNames(app: TestApp, tenant?: Omit<Populated, 'names'>, label?: string): Promise<object> {
  const trials = await loadTrials();
  return Object.assign({}, ...(await Promise.all(trials.map(({ populate }) => populate?.(app, tenant, label)))));
}

/** What only time or an operator would bring about. */
async function writePast(app: TestApp, { id }: TestTenant, label: string): Promise<void> {
  const auditContext = { ...operatorContext(Date.now()), sourceAddress: `address-${label}`, traceId: `trace-${label}` };
  await app.database.write(id, (tx) => countUsage(tx, auditContext, usageOf({}, [`entity-${label}-1`])));
  await app.db.owner.query(
    `INSERT INTO logs SELECT $1, now(), gen_random_uuid(), 'user', gen_random_uuid(), 'card', 'entity-' || $2 || '-' || n,
       'read', 'message-' || $2, 'success', 'address-' || $2, 'trace-' || $2 FROM generate_series(1, 30) n`,
    [id, label],
  );
  await app.db.owner.query(
    `INSERT INTO key_rotations (tenant_id, to_version, stage, place, started_at) VALUES ($1, 2, 'tokens', $2, now())`,
    [id, `place-${label}`],
  );
  await app.db.owner.query(
    'INSERT INTO search_tries (tenant_id, application_id, day, tried) VALUES ($1, gen_random_uuid(), now(), 1)',
    [id],
  );
}

/** Names of the same form that belong to nobody. */
export async function unknownNames(app: TestApp): Promise<Names> {
  return {
    ...(await furtherNames(app)),
    tenantId: randomUUID(),
    applicationId: randomUUID(),
    keyId: randomUUID(),
    tokenId: randomUUID(),
    alias: 'alias-nobody',
    cardId: randomUUID(),
    fingerprint: 'CC2XvyoohnqecEq4r3FtXv6MdCx4TbaW1UUTdCCN5MNL',
    nonce: 'abcdefghijklmnopqrstuv',
    sessionId: randomUUID(),
    dataValue: 'data-nobody',
    metadataValue: 'metadata-nobody',
    container: '/nobody/vault/',
    containerAbove: '/nobody/',
    logEntity: 'entity-nobody-1',
    logsCursor: 'bm9ib2R5',
    tokensCursor: 'bm9ib2R6',
    searchCursor: 'bm9ib2R7',
  };
}

/** When a key was last used and what a Reactor or Proxy did today is written behind the requests, at a moment of its own. */
const ROWS_OF: Readonly<Record<string, string>> = {
  api_keys: `(SELECT tenant_id, application_id, id, hash, mac, expires_at, created_by, created_at FROM api_keys)`,
  members: `(SELECT tenant_id, id, user_id, role, mac, created_by, created_at, modified_by, modified_at FROM members)`,
  reactor_figures: '(SELECT * FROM reactor_figures WHERE day < CURRENT_DATE - 3)',
  proxy_figures: '(SELECT * FROM proxy_figures WHERE day < CURRENT_DATE - 3)',
};

/** Everything stored of a tenant, in every table that could hold it: a line a table. */
export function stored(app: TestApp, tenant: Pick<TestTenant, 'id'>): Promise<string> {
  return linesOf(app, tenant, `coalesce(string_agg(to_jsonb(t)::text, ' ' ORDER BY to_jsonb(t)::text), '')`);
}

/** The same as one number a table, for a tenant with much to compare. */
export function storedDigest(app: TestApp, tenant: Pick<TestTenant, 'id'>): Promise<string> {
  return linesOf(app, tenant, 'coalesce(sum(hashtextextended(t::text, 0)), 0)');
}

async function linesOf({ db }: TestApp, { id }: Pick<TestTenant, 'id'>, aggregate: string): Promise<string> {
  const found = await db.owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c WHERE relkind IN ('r', 'p') AND NOT relispartition
       AND relnamespace = 'public'::regnamespace AND NOT relname = ANY ($1) ORDER BY relname`,
    [TABLES_WITHOUT_TENANT],
  );
  const tables = found.rows.map(({ name }) => {
    const column = name === 'tenants' ? 'id' : 'tenant_id';
    return `(SELECT '${name} ' || count(*) || ' ' || ${aggregate} AS line FROM ${ROWS_OF[name] ?? name} t WHERE ${column} = $1)`;
  });
  const { rows } = await db.owner.query<{ line: string }>(tables.join(' UNION ALL '), [id]);
  return rows.map(({ line }) => line).join('\n');
}
