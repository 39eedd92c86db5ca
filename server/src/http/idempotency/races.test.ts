import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type pg from 'pg';
import { connectAs } from '../../testing/empty-database.js';
import { eventually } from '../../testing/eventually.js';
import type { Answer } from '../../testing/http-client.js';
import { keptRows, putName, updatesOf } from '../../testing/keyed-puts.js';
import type { PostgresProxy } from '../../testing/postgres-proxy.js';
import { startPostgresProxy } from '../../testing/postgres-proxy.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';

describe('the same idempotency key at the same time', () => {
  let app: TestApp;
  let beside: TestApp;
  let proxy: PostgresProxy;
  let far: TestApp;
  let locker: pg.Client;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    const shared = { db: app.db, rootKey: rootKeyOf(app) };
    beside = await startTestApp({ beside: shared });
    assert.ok('socketDir' in app.db.target);
    proxy = await startPostgresProxy(app.db.target);
    far = await startTestApp({ beside: shared, target: () => proxy.target });
    locker = await connectAs(app.db.ownerTarget);
  });
  after(async () => {
    await locker.end();
    await far.close();
    await proxy.close();
    await beside.close();
    await app.close();
  });
  beforeEach(async () => {
    proxy.setWeather('pass');
    tenant = await app.makeTenant('Before');
  });

  async function whileLocked<T>(work: () => Promise<T>): Promise<T> {
    await locker.query('BEGIN');
    await locker.query('SELECT 1 FROM tenants WHERE id = $1 FOR UPDATE', [tenant.id]);
    try {
      return await work();
    } finally {
      await locker.query('ROLLBACK');
    }
  }

  const waiting = (count: number) =>
    eventually(`${count} changes wait for a lock`, async () => {
      const found = await app.db.owner.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return found.rows[0]?.count === count;
    });

  /** Exactly one was done; whoever got an answer got that one, the others were told to wait. */
  async function assertOneEffect(answers: readonly Answer[]): Promise<void> {
    const done = answers.filter(({ status }) => status === 200);
    const told = answers.filter(({ status, json }) => status === 409 && json.code === 'idempotency_in_flight');
    assert.equal(done.length + told.length, answers.length, answers.map(({ status }) => status).join());
    assert.equal(new Set(done.map(({ text }) => text)).size, 1);
    assert.equal(await updatesOf(app, tenant), 1);
  }

  it('409 while the first request still runs, then its answer', async () => {
    const [running] = await whileLocked(async () => {
      const held = putName(app, tenant.key, 'First', 'k');
      await waiting(1);
      const second = await putName(app, tenant.key, 'Second', 'k');
      assert.deepEqual([second.status, second.json.code], [409, 'idempotency_in_flight']);
      return [held];
    });
    const first = (await running) ?? assert.fail();
    assert.equal(first.status, 200);
    assert.equal((await putName(app, tenant.key, 'Second', 'k')).text, first.text);
    assert.equal(await updatesOf(app, tenant), 1);
  });

  it('one effect of fifty at once, in one process', async () => {
    const names = Array.from({ length: 50 }, (_, at) => `Name ${at}`);
    await assertOneEffect(await Promise.all(names.map((name) => putName(app, tenant.key, name, 'k'))));
  });

  it('one effect of fifty at once, over two processes', async () => {
    const apps = Array.from({ length: 50 }, (_, at) => (at % 2 === 0 ? app : beside));
    const answers = await Promise.all(apps.map((one, at) => putName(one, tenant.key, `Name ${at}`, 'k')));
    await assertOneEffect(answers);
  });

  it('200 with the other answer for a request that met it only in the database, and its own work undone', async () => {
    const [one, other] = await whileLocked(async () => {
      const running = [putName(app, tenant.key, 'One', 'k'), putName(beside, tenant.key, 'Other', 'k')];
      await waiting(2);
      return running;
    }).then((running) => Promise.all(running));
    assert.deepEqual([one?.status, other?.status], [200, 200]);
    assert.equal(one?.text, other?.text);
    assert.equal(await updatesOf(app, tenant), 1);
    const { json } = await app.call('GET', '/tenants/self', { key: tenant.key });
    assert.equal(json.name, one?.json.name);
  });

  it('leaves the changes of neighbours in the same batch alone', async () => {
    const neighbours = await Promise.all(Array.from({ length: 5 }, () => app.makeTenant()));
    const answers = await Promise.all([
      putName(app, tenant.key, 'One', 'k'),
      putName(beside, tenant.key, 'Other', 'k'),
      ...neighbours.map(({ key }) => putName(app, key, 'Neighbour', 'k')),
      ...neighbours.map(({ key }) => putName(beside, key, 'Neighbour', 'other')),
    ]);
    await assertOneEffect(answers.slice(0, 2));
    assert.ok(answers.slice(2).every(({ status }) => status === 200));
    for (const neighbour of neighbours) assert.equal(await updatesOf(app, neighbour), 2);
  });

  it('500 when the answer cannot be stored, and then there is no effect either', async () => {
    await app.db.owner.query('REVOKE INSERT ON idempotency_keys FROM strongroom_app');
    try {
      const refused = await putName(app, tenant.key, 'Never', 'k');
      assert.equal(refused.status, 500);
      assert.equal((await app.call('GET', '/tenants/self', { key: tenant.key })).json.name, 'Before');
      assert.equal(await updatesOf(app, tenant), 0);
      const without = await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'Without' } });
      assert.equal(without.status, 200);
    } finally {
      await app.db.owner.query('GRANT INSERT ON idempotency_keys TO strongroom_app');
    }
    assert.equal((await putName(app, tenant.key, 'Again', 'k')).json.name, 'Again');
  });

  it('503 of unknown outcome, then the answer of what was done: the commit had been made', async () => {
    await far.call('GET', '/tenants/self', { key: tenant.key });
    proxy.setWeather('cut after');
    const lost = await putName(far, tenant.key, 'Done', 'k');
    assert.equal(lost.status, 503);
    proxy.setWeather('pass');
    await eventually('the commit is there', async () => (await keptRows(app, tenant.id)).length === 1);
    const again = await putName(far, tenant.key, 'Not this', 'k');
    assert.deepEqual([again.status, again.json.name], [200, 'Done']);
    assert.equal(await updatesOf(app, tenant), 1);
  });

  it('503 of unknown outcome, then it is done for the first time: the commit had not been made', async () => {
    await far.call('GET', '/tenants/self', { key: tenant.key });
    // The keys are remembered and nothing is written before the change itself.
    await far.keyStore.keyring.forTenant(tenant.id);
    proxy.setWeather('cut before');
    const lost = await putName(far, tenant.key, 'Lost', 'k');
    assert.equal(lost.status, 503);
    proxy.setWeather('pass');
    assert.equal((await putName(far, tenant.key, 'Done', 'k')).json.name, 'Done');
    assert.equal(await updatesOf(app, tenant), 1);
  });
});
