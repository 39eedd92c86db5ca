// needs: PostgreSQL packages, pgbouncer

import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import type { PgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import { startPgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import pg from 'pg';
import { generateRootKey } from '../crypto/root-key.js';
import { BEFORE_ECHO_MS, eventually } from './eventually.js';
import { databaseOn, startMigratedServer } from './migrated-server.js';
import type { TestApp } from './test-app.js';
import { startTestApp } from './test-app.js';

const POOL_SIZE = 4;
const CARD = { number: '4242424242424242', expiration_month: 12, expiration_year: 2030, cvc: '123' };
const PERMISSIONS = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'];
const LEFT_BEHIND = `
  SELECT current_user::text AS role, coalesce(current_setting('strongroom.tenants', true), '') AS tenants,
         current_setting('statement_timeout') AS bound, (SELECT count(*) FROM pg_prepared_statements) AS kept`;

/** Debian's PgBouncer knows no prepared statements, and lends a server connection for one transaction at a time. */
suite('behind PgBouncer in transaction mode', () => {
  let server: PostgresServer;
  let bouncer: PgBouncer;
  let opened: TestApp[] = [];
  const rootKey = generateRootKey();

  before(async () => {
    server = await startMigratedServer();
    bouncer = await startPgBouncer(server, POOL_SIZE);
  });
  afterEach(async () => {
    for (const app of opened.reverse()) {
      await app.close();
      await app.db.drop();
    }
    opened = [];
  });
  after(async () => {
    await bouncer?.remove();
    await server?.remove();
  });

  async function open(env: Readonly<Record<string, string>> = {}): Promise<TestApp> {
    const db = await databaseOn(server, bouncer.url('service'));
    const settings = {
      STRONGROOM_DATABASE_URL: bouncer.url('service'),
      STRONGROOM_DATABASE_PREPARED_STATEMENTS: 'off',
      ...env,
    };
    const app = await startTestApp({ beside: { db, rootKey }, env: settings });
    opened.push(app);
    return app;
  }

  const past = (): Record<string, string> => ({ STRONGROOM_DATABASE_LISTEN_URL: server.url('service') });
  const gauge = (app: TestApp, name: string): number =>
    Number(new RegExp(`^strongroom_${name} (\\d+)$`, 'm').exec(app.metrics.render())?.[1]);
  const isHearing = (app: TestApp): boolean => gauge(app, 'changes_heard') === 1;
  const deafLines = (app: TestApp): string[] =>
    app.logLines.filter((line) => line.includes('STRONGROOM_DATABASE_LISTEN_URL'));

  test('tokens are made, read, changed, listed, searched and deleted, many at once', async () => {
    const app = await open(past());
    const tenant = await app.makeTenant();
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions: PERMISSIONS } as const;
    const key = await app.makeKey(tenant.id, 'private', [], [rule]);
    const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body });

    const made = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        call('POST', '/tokens', { type: 'token', data: `value ${i}`, metadata: { n: String(i) } }),
      ),
    );
    assert.deepEqual(new Set(made.map(({ status }) => status)), new Set([201]));
    const read = await Promise.all(made.map(({ json }) => call('GET', `/tokens/${json.id}`)));
    assert.deepEqual(
      read.map(({ json }) => json.data),
      made.map((_, i) => `value ${i}`),
    );

    const card = await call('POST', '/tokens', { type: 'card', data: CARD });
    assert.equal(card.status, 201, card.text);
    const changed = await call('PATCH', `/tokens/${card.json.id}`, { metadata: { colour: 'red' } });
    assert.equal(changed.status, 200, changed.text);
    const listed = await call('GET', '/tokens?size=100');
    assert.equal(listed.json.data.length, 61);
    const found = await call('GET', '/tokens?metadata.n=17');
    assert.deepEqual(
      found.json.data.map(({ id }: { id: string }) => id),
      [made[17]?.json.id],
    );
    const tokenized = await call('POST', '/tokenize', { first: { type: 'token', data: 'a' }, second: 'plain' });
    assert.equal(tokenized.status, 200, tokenized.text);
    assert.equal((await call('DELETE', `/tokens/${card.json.id}`)).status, 204);
    assert.equal((await call('GET', `/tokens/${card.json.id}`)).status, 404);
    const logs = await app.call('GET', '/logs?size=100', { key: tenant.key });
    assert.equal(logs.status, 200);
    assert.ok(logs.json.data.length > 60);
  });

  test('no connection keeps a role, tenants, a bound or a statement by name', async () => {
    const app = await open(past());
    const tenant = await app.makeTenant();
    assert.equal((await app.call('GET', '/tenants/self', { key: tenant.key })).status, 200);
    const client = new pg.Client({ connectionString: bouncer.url('service') });
    await client.connect();
    try {
      const { rows } = await client.query(LEFT_BEHIND);
      assert.deepEqual(rows, [{ role: 'strongroom', tenants: '', bound: '0', kept: '0' }]);
    } finally {
      await client.end();
    }
  });

  test('two processes hear of each other past it: a key deleted by one is refused by the other, which is told of it', async () => {
    const [one, two] = [await open(past()), await open(past())];
    await eventually('both hear', () => isHearing(one) && isHearing(two));
    const tenant = await one.makeTenant();
    const look = (app: TestApp) => app.call('GET', '/tenants/self', { key: tenant.key });
    assert.equal((await look(one)).status, 200);
    assert.ok(gauge(one, 'credentials_remembered') > 0, 'the first answers from memory');
    const rowsLeft = async (): Promise<number> => {
      const { rows } = await one.db.owner.query('SELECT 1 FROM applications WHERE tenant_id = $1', [tenant.id]);
      return rows.length;
    };
    assert.equal(await rowsLeft(), 1);
    assert.equal((await two.call('DELETE', '/tenants/self', { key: tenant.key })).status, 204);
    await eventually('the first refuses', async () => (await look(one)).status === 401, BEFORE_ECHO_MS);
    await eventually('one of them leads the purge', async () => (await rowsLeft()) === 0);
    for (const app of [one, two]) assert.deepEqual(deafLines(app), []);
  });

  test('without an address to listen at nothing is remembered, one line says why, and answers are right at once', async () => {
    const [deaf, other] = [await open(), await open(past())];
    await eventually('the line is written', () => deafLines(deaf).length > 0);
    const tenant = await other.makeTenant();
    for (let turn = 0; turn < 20; turn += 1) {
      assert.equal((await deaf.call('GET', '/tenants/self', { key: tenant.key })).status, 200);
      assert.ok(!isHearing(deaf));
    }
    assert.equal(gauge(deaf, 'credentials_remembered'), 0);
    const renamed = await other.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'Renamed' } });
    assert.equal(renamed.status, 200);
    assert.equal((await deaf.call('GET', '/tenants/self', { key: tenant.key })).json.name, 'Renamed');
    assert.equal((await other.call('DELETE', '/tenants/self', { key: tenant.key })).status, 204);
    assert.equal((await deaf.call('GET', '/tenants/self', { key: tenant.key })).status, 401);
    assert.equal(deafLines(deaf).length, 1);
    assert.ok(deafLines(deaf)[0]?.includes('"level":"warn"') || deafLines(deaf)[0]?.includes('"level":40'));
  });
});
