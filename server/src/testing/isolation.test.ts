import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import { operatorAct } from '../audit/entry.js';
import type { FieldContext } from '../crypto/envelope.js';
import { openField, sealField } from '../crypto/envelope.js';
import { IntegrityError } from '../crypto/integrity-error.js';
import { countUsage } from '../resources/reports/index.js';
import { clientConfig, DEFAULT_TIME_BOUNDS } from '../storage/connection.js';
import { insertBareToken, usageOf } from './bare-tokens.js';
import { eventually } from './eventually.js';
import { authorizeForeign, walkApplications } from './foreign-applications.js';
import type { Answer, CallOptions } from './http-client.js';
import type { TestApp, TestTenant } from './test-app.js';
import { startTestApp } from './test-app.js';

/** Tables that hold nothing of a tenant. Any other table must have a tenant_id and row-level security. */
const TABLES_WITHOUT_TENANT = ['root_key_check', 'schema_migrations', 'system_keys', 'users'];
const WORKING_ROLES = ['strongroom_app', 'strongroom_system', 'strongroom_purge'];

interface Pair {
  readonly a: TestTenant;
  readonly b: TestTenant;
  /** Texts that belong to B alone. */
  readonly secretsOfB: readonly string[];
}

/** Two tenants with the same kinds of data and not a word in common. */
async function makePair(app: TestApp): Promise<Pair> {
  const [a, b] = [await app.makeTenant('Name of A'), await app.makeTenant('Name of B')];
  for (const [tenant, label, tokens] of [
    [a, 'of-a', 11],
    [b, 'of-b', 7_777],
  ] as const) {
    const act = { ...operatorAct(Date.now()), sourceAddress: `address-${label}`, traceId: `trace-${label}` };
    const usage = usageOf({ card: tokens }, [`token-${label}`, `second-${label}`]);
    await app.database.write(tenant.id, (tx) => countUsage(tx, act, usage));
    await insertBareToken(app.db, { tenantId: tenant.id, id: `token-${label}`, type: 'card', createdAt: 'now' });
    await app.db.owner.query(
      `INSERT INTO logs SELECT $1, now(), gen_random_uuid(), 'user', gen_random_uuid(), 'card', 'entity-' || $2 || n,
         'read', 'message-' || $2, 'success', 'address-' || $2, 'trace-' || $2 FROM generate_series(1, 30) n`,
      [tenant.id, label],
    );
    await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: `Name ${label}` } });
    const rules = [{ priority: 1, container: `/${label}/`, permissions: ['token:create'] }];
    const body = { name: `Shop ${label}`, type: 'public', rules };
    const shop = await app.call('POST', '/applications', { key: tenant.key, body });
    await app.call('POST', '/sessions', { key: shop.json.key });
  }
  const applications = await app.db.owner.query<{ id: string }>('SELECT id FROM applications WHERE tenant_id = $1', [
    b.id,
  ]);
  const keys = await app.db.owner.query<{ id: string }>('SELECT id FROM api_keys WHERE tenant_id = $1', [b.id]);
  const ids = [...applications.rows, ...keys.rows].map(({ id }) => id);
  const secretsOfB = [b.id, b.ownerId, ...ids, 'of-b', 'of B', '"count":7777'];
  return { a, b, secretsOfB };
}

/** Everything stored of a tenant, in every table that could hold it. */
async function stored(app: TestApp, { id }: TestTenant): Promise<string> {
  const found = await app.db.owner.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class c WHERE relkind IN ('r', 'p') AND NOT relispartition
       AND relnamespace = 'public'::regnamespace AND NOT relname = ANY ($1) ORDER BY relname`,
    [TABLES_WITHOUT_TENANT],
  );
  const parts: string[] = [];
  for (const { name } of found.rows) {
    const column = name === 'tenants' ? 'id' : 'tenant_id';
    const sql = `SELECT to_jsonb(t)::text AS row FROM ${name} t WHERE ${column} = $1 ORDER BY 1`;
    const { rows } = await app.db.owner.query(sql, [id]);
    parts.push(`${name} ${rows.length} ${JSON.stringify(rows)}`);
  }
  return parts.join('\n');
}

/** Tries everything the key of A can be used for, with B's names wherever a name fits. */
async function walk(app: TestApp, { a, b }: Pair): Promise<Answer[]> {
  const cursorOfB = (await app.call('GET', '/logs?size=5', { key: b.key })).json.pagination.after;
  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: a.key, headers: { 'SVC-TENANT-ID': b.id }, ...options });
  const answers: Answer[] = [];
  for (const path of [
    '/permissions',
    '/logs?size=1000',
    '/logs?include=details&size=1000',
    '/logs?page=1&size=1000',
    '/logs?page=2&size=10',
    '/logs?entity_type=card&size=1000',
    `/logs?entity_type=tenant&entity_id=${b.id}&page=1`,
    `/logs?entity_id=${b.id}`,
    '/logs?entity_id=entity-of-b1&include=details',
    `/logs?tenant_id=${b.id}`,
    '/logs?start_date=2000-01-01&end_date=9999-01-01&size=1000',
    `/logs?start=${cursorOfB}&size=5`,
    '/logs/entity-types',
    '/tenants/self',
    `/tenants/self?id=${b.id}`,
    `/tenants/${b.id}`,
    '/tenants/self/reports/usage',
    `/tenants/self/reports/usage?tenant_id=${b.id}`,
  ]) {
    answers.push(await call('GET', path));
  }
  const body = { name: 'Renamed by A', id: b.id, tenant_id: b.id, settings: { fingerprint_tokens: 'true' } };
  answers.push(await call('PUT', '/tenants/self', { body }), await call('PUT', `/tenants/${b.id}`, { body }));
  answers.push(...(await walkApplications(app, b, call)));
  return answers;
}

function leaksIn(answers: readonly Answer[], secrets: readonly string[]): string[] {
  return answers.flatMap(({ text }) => secrets.filter((secret) => text.includes(secret)));
}

async function rowSecurityOff(app: TestApp): Promise<void> {
  const tables = await app.db.owner.query<{ name: string }>(
    'SELECT relname AS name FROM pg_class WHERE relrowsecurity',
  );
  for (const { name } of tables.rows) await app.db.owner.query(`ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`);
}

type Query = (this: unknown, first: unknown, ...rest: unknown[]) => unknown;
// The driver's method has a dozen overloads; passing every argument on unchanged but the first fits each of them.
const driver = pg.Client.prototype as unknown as { query: Query };
const originalQuery = driver.query;
const widened = new Set<string>();

/** From here on the product's statements no longer ask for one tenant: `tenant_id = $1` holds for every row. */
function statementWallOff(): void {
  driver.query = function (this: unknown, first: unknown, ...rest: unknown[]) {
    if (typeof first !== 'object' || first === null || !('name' in first) || !('text' in first)) {
      return originalQuery.call(this, first, ...rest);
    }
    const text = String(first.text).replaceAll(
      /(?<![\w.])(?:\w+\.)?(?:tenant_id|id) = \$1(?!\d)/g,
      '$1::uuid IS NOT NULL',
    );
    if (text !== first.text) widened.add(String(first.name));
    return originalQuery.call(this, { ...first, text }, ...rest);
  };
}

function statementWallOn(): void {
  driver.query = originalQuery;
}

for (const { walls, isRowSecurityOn, areStatementsOn } of [
  { walls: 'both walls', isRowSecurityOn: true, areStatementsOn: true },
  { walls: 'the statements alone', isRowSecurityOn: false, areStatementsOn: true },
  { walls: 'row-level security alone', isRowSecurityOn: true, areStatementsOn: false },
]) {
  describe(`isolation by ${walls}`, () => {
    let app: TestApp;
    let pair: Pair;
    before(async () => {
      if (!areStatementsOn) statementWallOff();
      app = await startTestApp();
      if (!isRowSecurityOn) await rowSecurityOff(app);
      pair = await makePair(app);
    });
    after(async () => {
      await app.close();
      statementWallOn();
    });

    it('200, 400 or 404 on a walk with the key of A: nothing of B is shown and nothing of B changes', async () => {
      const untouched = await stored(app, pair.b);
      const answers = await walk(app, pair);
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 400, 404]));
      assert.deepEqual(leaksIn(answers, pair.secretsOfB), []);
      assert.equal(await stored(app, pair.b), untouched);
      if (!areStatementsOn) {
        for (const name of [
          ...['list_logs_', 'count_logs_', 'update_tenant', 'find_token_counts', 'find_tenant_by_id'],
          ...['list_applications', 'count_applications', 'find_application_by_id', 'lock_application_by_id'],
        ]) {
          assert.ok(widened.has(name), `${name} was not widened, so this run proves nothing about it`);
        }
      }
    });

    it('404 for the nonce of B with a private key of A: the session of B is given nothing', async () => {
      assert.equal((await authorizeForeign(app, pair.a, pair.b)).status, 404);
      const found = await app.db.owner.query('SELECT FROM sessions WHERE authorized_by IS NOT NULL');
      assert.equal(found.rowCount, 0);
    });

    it('200 with exactly what A has: its own rows, totals and report', async () => {
      const { key, id } = pair.a;
      const { json } = await app.call('GET', '/logs?page=1&size=1000', { key });
      assert.ok(json.data.every((row: { tenant_id: string }) => row.tenant_id === id));
      const counted = await app.db.owner.query('SELECT FROM logs WHERE tenant_id = $1', [id]);
      assert.deepEqual([json.data.length, json.pagination.total_items], [counted.rowCount, counted.rowCount]);
      const { token_report } = (await app.call('GET', '/tenants/self/reports/usage', { key })).json;
      assert.deepEqual([token_report.metrics_by_type.card.count, token_report.monthly_active_tokens], [11, 2]);
    });

    // A merged batch has both tenants in its scope, so there row-level security alone cannot tell them apart.
    if (areStatementsOn) {
      it('200 for writes of both at once: each changes its own tenant', async () => {
        const { a, b } = await makePair(app);
        const rename = ({ key }: TestTenant, name: string) => app.call('PUT', '/tenants/self', { key, body: { name } });
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => [rename(a, 'Only A'), rename(b, 'Only B')]).flat(),
        );
        const seen = new Set(answers.map(({ json }) => `${json.id} ${json.name}`));
        assert.deepEqual(seen, new Set([`${a.id} Only A`, `${b.id} Only B`]));
      });
    }

    it('204 for deleting A: after the purge no row of A is left and B has every row', async () => {
      const untouched = await stored(app, pair.b);
      assert.equal((await app.call('DELETE', '/tenants/self', { key: pair.a.key })).status, 204);
      // The tenant's own row stays a while as a tombstone.
      await eventually('A is purged', async () => !/^(?!tenants )\w+ [1-9]/m.test(await stored(app, pair.a)));
      assert.equal(await stored(app, pair.b), untouched);
      assert.equal((await app.call('GET', '/tenants/self', { key: pair.b.key })).json.name, 'Name of-b');
    });
  });
}

describe('isolation without any wall', () => {
  it('leaks: the walk above can fail', async () => {
    statementWallOff();
    const app = await startTestApp();
    try {
      await rowSecurityOff(app);
      const pair = await makePair(app);
      const untouched = await stored(app, pair.b);
      const leaks = new Set(leaksIn(await walk(app, pair), pair.secretsOfB));
      assert.ok(leaks.has(pair.b.id) && leaks.has('of-b'), `only ${[...leaks].join()} leaked`);
      assert.notEqual(await stored(app, pair.b), untouched);
    } finally {
      await app.close();
      statementWallOn();
    }
  });
});

describe('what the database itself refuses', () => {
  let app: TestApp;
  let pair: Pair;
  let client: pg.Client;
  let tables: { name: string; has_tenant: boolean; is_enabled: boolean; is_forced: boolean; is_partition: boolean }[];
  before(async () => {
    app = await startTestApp();
    pair = await makePair(app);
    client = new pg.Client(clientConfig(app.db.target, DEFAULT_TIME_BOUNDS));
    await client.connect();
    const found = await app.db.owner.query(
      `SELECT relname AS name, relrowsecurity AS is_enabled, relforcerowsecurity AS is_forced,
              relispartition AS is_partition,
              EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id') AS has_tenant
       FROM pg_class c WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace ORDER BY relname`,
    );
    tables = found.rows;
  });
  after(async () => {
    await client.end();
    await app.close();
  });

  /** Runs one statement in a role and a scope, and undoes it. */
  async function as(role: string, scope: string, sql: string, values: unknown[] = []): Promise<pg.QueryResult> {
    await client.query('BEGIN');
    try {
      await client.query(`SELECT set_config('role', $1, true), set_config('strongroom.tenants', $2, true)`, [
        role,
        scope,
      ]);
      return await client.query(sql, values);
    } finally {
      await client.query('ROLLBACK');
    }
  }

  it('the login reads no table as long as it has taken on no role', async () => {
    for (const { name } of tables) {
      await assert.rejects(client.query(`SELECT FROM ${name}`), { code: '42501' }, name);
    }
  });

  it('the app role sees no tenant data without a scope and only its own with one', async () => {
    for (const { name } of tables.filter((table) => table.has_tenant && !table.is_partition)) {
      assert.equal((await as('strongroom_app', '', `SELECT FROM ${name}`)).rowCount, 0, name);
      const seen = await as('strongroom_app', pair.a.id, `SELECT DISTINCT tenant_id FROM ${name}`);
      assert.deepEqual(seen.rows, [{ tenant_id: pair.a.id }], name);
    }
    assert.deepEqual((await as('strongroom_app', pair.a.id, 'SELECT id FROM tenants')).rows, [{ id: pair.a.id }]);
    await assert.rejects(as('strongroom_app', '*', 'SELECT FROM logs'));
  });

  it('the app role changes nothing outside its scope and moves nothing out of it', async () => {
    const { a, b } = pair;
    assert.equal((await as('strongroom_app', a.id, `UPDATE tenants SET name = 'x' WHERE id = $1`, [b.id])).rowCount, 0);
    for (const sql of [
      'UPDATE applications SET tenant_id = $1',
      'UPDATE tokens SET tenant_id = $1',
      `INSERT INTO token_groups VALUES ($1, $1, 9, 'card', '{/pci/high/}', 1)`,
      `INSERT INTO logs VALUES ($1, now(), gen_random_uuid(), NULL, NULL, 'card', 'e', 'read', 'm', 'success')`,
    ]) {
      await assert.rejects(as('strongroom_app', a.id, sql, [b.id]), { code: '42501' }, sql);
    }
  });

  it('the app role never changes or removes a log', async () => {
    for (const sql of [`UPDATE logs SET message = 'x'`, 'DELETE FROM logs', 'TRUNCATE logs']) {
      await assert.rejects(as('strongroom_app', pair.a.id, sql), { code: '42501' }, sql);
    }
  });

  it('the system role reads identities alone and changes none of them', async () => {
    for (const name of ['logs', 'tenant_keys', 'tokens', 'token_groups', 'active_tokens', 'active_token_counts']) {
      await assert.rejects(as('strongroom_system', pair.a.id, `SELECT FROM ${name}`), { code: '42501' }, name);
    }
    for (const name of ['tenants', 'applications', 'api_keys']) {
      await assert.rejects(as('strongroom_system', '', `DELETE FROM ${name}`), { code: '42501' }, name);
    }
  });

  it('every table of tenant data has row-level security, forced, and none was forgotten', () => {
    const guarded = tables.filter((table) => !table.is_partition && !TABLES_WITHOUT_TENANT.includes(table.name));
    for (const table of guarded) {
      assert.ok(table.has_tenant || table.name === 'tenants', `${table.name} names no tenant`);
      assert.deepEqual([table.is_enabled, table.is_forced], [true, true], table.name);
    }
    assert.ok(guarded.length >= 9);
  });

  it('a partition is reached through its table alone: no role has a right on it', async () => {
    const partitions = tables.filter((table) => table.is_partition);
    assert.ok(partitions.length > 0);
    for (const role of [...WORKING_ROLES, 'public', 'strongroom']) {
      for (const { name } of partitions) {
        const held = await app.db.owner.query(
          `SELECT has_table_privilege($1, $2, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE') AS is_held`,
          [role, name],
        );
        assert.equal(held.rows[0]?.is_held, false, `${role} on ${name}`);
      }
    }
  });

  it('no role the service takes on can sign in, inherit or look past row-level security', async () => {
    const roles = await app.db.owner.query(
      `SELECT rolname FROM pg_roles WHERE rolname = ANY ($1) AND NOT (rolcanlogin OR rolsuper OR rolbypassrls OR rolinherit)`,
      [WORKING_ROLES],
    );
    assert.equal(roles.rowCount, WORKING_ROLES.length);
  });

  it('a sealed record opens for its own tenant alone', async () => {
    const { keyring } = app.keyStore;
    const [keysOfA, keysOfB] = [await keyring.forTenant(pair.a.id), await keyring.forTenant(pair.b.id)];
    const context: FieldContext = { tenantId: pair.a.id, kind: 'token', entityId: 't', field: 'data', dataVersion: 1 };
    const record = sealField(keysOfA, context, Buffer.from('secret of A'));
    assert.equal(openField(keysOfA, context, record).toString(), 'secret of A');
    assert.throws(() => openField(keysOfB, { ...context, tenantId: pair.b.id }, record), IntegrityError);
    assert.throws(() => openField(keysOfB, context, record));
    assert.throws(() => openField(keysOfA, { ...context, entityId: 'u' }, record), IntegrityError);
  });

  it('a wrapped key copied from another tenant does not open: 503 for that tenant, the other goes on', async () => {
    const { keyring } = app.keyStore;
    await app.db.owner.query(
      `UPDATE tenant_keys AS t SET wrapped = o.wrapped FROM tenant_keys o
       WHERE t.tenant_id = $1 AND o.tenant_id = $2 AND o.kind = t.kind`,
      [pair.a.id, pair.b.id],
    );
    keyring.clear();
    await assert.rejects(async () => keyring.forTenant(pair.a.id), { code: 'storage_unavailable' });
    assert.equal((await keyring.forTenant(pair.b.id)).tenantId, pair.b.id);
  });
});
