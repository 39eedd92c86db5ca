// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import pg from 'pg';
import type { FieldContext } from '../crypto/envelope.js';
import { openField, sealField } from '../crypto/envelope.js';
import { IntegrityError } from '../crypto/integrity-error.js';
import { clientConfig, DEFAULT_TIME_BOUNDS } from '../storage/connection.js';
import type { Pair } from './isolation-pair.js';
import { makePair, TABLES_WITHOUT_TENANT } from './isolation-pair.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

/** What tells whose member a user is. */
const OF_PEOPLE = ['credential_directory', 'members', 'invitations', 'tenants'];
const WORKING_ROLES = ['strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people'];

interface Policy {
  readonly table: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly cmd: string;
  readonly qual: string | null;
  readonly with_check: string | null;
}

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

  it('a tenant marked as deleted is never unmarked, nor is its mark moved, in the transaction that made it or later', async () => {
    const mark = `UPDATE tenants SET deleted_at = now() WHERE id = '${pair.a.id}'`;
    for (const value of ['NULL', `now() - interval '2 years'`]) {
      const back = `UPDATE tenants SET deleted_at = ${value} WHERE id = '${pair.a.id}'`;
      await assert.rejects(as('strongroom_app', pair.a.id, `${mark}; ${back}`), { code: '42501' }, value);
    }
    await assert.rejects(as('strongroom_app', pair.a.id, 'UPDATE tenants SET id = gen_random_uuid()'), {
      code: '42501',
    });
  });

  it('the release before still claims fingerprints, and finds no table that its session made', async () => {
    const claim = (id: string) =>
      `SELECT claim_fingerprint('${pair.a.id}', 'card', '\\x0707', '${id}', now()) AS holder`;
    const results: unknown = await as('strongroom_app', pair.a.id, `${claim('first')}; ${claim('second')}`);
    assert.ok(Array.isArray(results));
    const holders = results.map(({ rows }: pg.QueryResult) => rows[0]?.holder);
    assert.deepEqual(holders, ['first', 'first']);
    const { rows } = await app.db.owner.query(`SELECT proconfig FROM pg_proc WHERE proname = 'claim_fingerprint'`);
    assert.deepEqual(rows, Array(2).fill({ proconfig: ['search_path=pg_catalog, public, pg_temp'] }));
  });

  it('the app role never changes or removes a log', async () => {
    for (const sql of [`UPDATE logs SET message = 'x'`, 'DELETE FROM logs', 'TRUNCATE logs']) {
      await assert.rejects(as('strongroom_app', pair.a.id, sql), { code: '42501' }, sql);
    }
  });

  it('the system role reads identities and due dates alone, column by column, and changes none of them', async () => {
    const held = await app.db.owner.query<{ name: string; columns: string[] }>(
      `SELECT c.relname AS name, array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
         AND has_column_privilege('strongroom_system', c.oid, a.attnum, 'SELECT') GROUP BY c.relname`,
    );
    const rights = Object.fromEntries(held.rows.map(({ name, columns }) => [name, columns]));
    assert.deepEqual(rights.tokens, ['tenant_id', 'expires_at', 'cvc_expires_at']);
    assert.deepEqual(rights.idempotency_keys, ['tenant_id', 'expires_at']);
    assert.deepEqual(rights.reactor_requests, ['tenant_id', 'state', 'due_at', 'expires_at']);
    assert.deepEqual(rights.reactor_figures, ['tenant_id', 'day']);
    assert.deepEqual(rights.proxy_figures, ['tenant_id', 'day']);
    assert.deepEqual(rights.log_counts, ['tenant_id', 'day']);
    assert.deepEqual(rights.proxies, ['tenant_id', 'id', 'key_hash']);
    assert.deepEqual(rights.portal_visits, ['tenant_id', 'expires_at']);
    assert.deepEqual(rights.users, ['id']);
    const installation = ['root_key_check', 'schema_migrations', 'system_keys', 'users'];
    const identities = ['api_keys', 'applications', 'credential_directory', 'proxies', 'sessions', 'tenants'];
    const ofDue = [
      'portal_visits',
      'tokens',
      'idempotency_keys',
      'reactor_requests',
      'reactor_figures',
      'proxy_figures',
      'log_counts',
    ];
    const readable = [...installation, ...identities, ...ofDue];
    assert.deepEqual(Object.keys(rights).sort(), [...readable].sort());
    for (const { name } of tables.filter((table) => table.has_tenant && !readable.includes(table.name))) {
      await assert.rejects(as('strongroom_system', pair.a.id, `SELECT FROM ${name}`), { code: '42501' }, name);
    }
    for (const sql of [
      ...['SELECT id FROM tokens', 'SELECT sealed FROM tokens', 'SELECT sealed FROM idempotency_keys'],
      ...['SELECT id FROM reactor_requests', 'SELECT sealed FROM reactor_requests'],
      ...['SELECT name FROM proxies', 'SELECT sealed FROM proxies', 'SELECT sealed FROM proxy_versions'],
    ]) {
      await assert.rejects(as('strongroom_system', pair.a.id, sql), { code: '42501' }, sql);
    }
    for (const { name } of tables.filter((table) => table.has_tenant || table.name === 'tenants')) {
      const changeable = await app.db.owner.query<{ is_held: boolean }>(
        `SELECT has_table_privilege('strongroom_system', $1, 'INSERT, DELETE, TRUNCATE')
             OR has_any_column_privilege('strongroom_system', $1, 'INSERT, UPDATE') AS is_held`,
        [name],
      );
      assert.equal(changeable.rows[0]?.is_held, false, name);
    }
  });

  it('the system role sees no token but those that have something due', async () => {
    const { rows } = await app.db.owner.query('SELECT FROM tokens WHERE cvc_expires_at IS NOT NULL');
    const seen = await as('strongroom_system', '', 'SELECT tenant_id FROM tokens');
    assert.ok(rows.length > 0);
    assert.equal(seen.rowCount, rows.length);
  });

  it('every table of tenant data has row-level security, forced, for the app and for the purge', async () => {
    const guarded = tables.filter((table) => !table.is_partition && !TABLES_WITHOUT_TENANT.includes(table.name));
    const found = await app.db.owner.query<Policy>(
      `SELECT tablename AS table, policyname AS name, roles::text[], cmd, qual, with_check FROM pg_policies
       WHERE schemaname = 'public' AND permissive = 'PERMISSIVE'`,
    );
    for (const table of guarded) {
      assert.ok(table.has_tenant || table.name === 'tenants', `${table.name} names no tenant`);
      assert.deepEqual([table.is_enabled, table.is_forced], [true, true], table.name);
      const policies = found.rows.filter((policy) => policy.table === table.name);
      const column = table.name === 'tenants' ? 'id' : 'tenant_id';
      const scope = `(${column} = ANY (( SELECT strongroom_scope() AS strongroom_scope)::uuid[]))`;
      const told = policies
        .filter(({ roles }) => roles.includes('strongroom_app'))
        .map(({ cmd, qual, with_check }) => [cmd, qual, with_check]);
      const expected =
        table.name === 'logs'
          ? [
              ['INSERT', null, scope],
              ['SELECT', scope, null],
            ]
          : [['ALL', scope, scope]];
      assert.deepEqual(told.sort(), expected, table.name);
      const [purge, ...others] = policies.filter(({ roles }) => roles.includes('strongroom_purge'));
      assert.deepEqual([purge?.name, purge?.cmd, others], ['purge', 'ALL', []], table.name);
      assert.ok(purge?.qual?.includes(scope) && purge.qual.includes('deleted_at IS NOT NULL'), table.name);
      // Looking across tenants is for the system role and for people, and only to look.
      const rest = policies.filter(({ name, roles }) => name !== 'backup' && !/_app|_purge/.test(roles.join()));
      const lookers = OF_PEOPLE.includes(table.name) ? /^strongroom_(system|people)$/ : /^strongroom_system$/;
      for (const { roles, cmd } of rest) {
        assert.match(roles.join(), lookers, table.name);
        assert.equal(cmd, 'SELECT', table.name);
      }
    }
    assert.ok(guarded.length >= 14);
  });

  it('every table of tenant data shows itself whole to its owner, and only in a transaction that is a backup', async () => {
    const { rows } = await app.db.owner.query<Policy & { owner: string }>(
      `SELECT c.relname AS table, p.policyname AS name, p.roles::text[], p.cmd, p.qual, p.with_check,
              c.relowner::regrole::text AS owner
       FROM pg_class c LEFT JOIN pg_policies p ON p.tablename = c.relname AND p.policyname = 'backup'
       WHERE c.relnamespace = 'public'::regnamespace AND c.relforcerowsecurity`,
    );
    assert.ok(rows.length >= 14);
    for (const { table, roles, owner, cmd, qual, with_check } of rows) {
      assert.deepEqual([roles, cmd, with_check], [[owner], 'SELECT', null], table);
      assert.match(qual ?? '', /current_setting\('strongroom\.backup'::text, true\).* = 'on'::text/, table);
    }
    const restrictive = await app.db.owner.query(`SELECT FROM pg_policies WHERE permissive <> 'PERMISSIVE'`);
    assert.equal(restrictive.rowCount, 0);
  });

  it('nothing runs with the rights of the owner but what makes partitions, and no view looks past the walls', async () => {
    const functions = await app.db.owner.query<{ name: string }>(
      `SELECT proname AS name FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace ORDER BY 1`,
    );
    const lent = functions.rows.map(({ name }) => name);
    assert.deepEqual(
      lent.filter((name) => !/log_partitions/.test(name)),
      [],
    );
    assert.ok(lent.length > 0);
    const views = await app.db.owner.query(
      `SELECT FROM pg_class WHERE relkind IN ('v', 'm') AND relnamespace = 'public'::regnamespace`,
    );
    assert.equal(views.rowCount, 0);
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
