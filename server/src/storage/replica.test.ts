// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../testing/eventually.js';
import { createFakeClock } from '../testing/fake-clock.js';
import { startPostgresProxy } from '../testing/postgres-proxy.js';
import type { Replicated } from '../testing/replicated.js';
import { startReplicated, untilServing } from '../testing/replicated.js';
import type { TestApp, TestAppOptions, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { DEFAULT_TIME_BOUNDS } from './connection.js';
import { statement } from './statement.js';

const READERS = 4;
/** Far longer than a conflict with recovery takes to end a statement. */
const NAP_S = 120;

const NAP = statement<{ is_replica: boolean }>('nap', 'SELECT pg_is_in_recovery() AS is_replica FROM pg_sleep($1)');
const SEEN = statement<{ tenant_id: string; who: string; is_replica: boolean }>(
  'seen',
  'SELECT DISTINCT tenant_id, current_user::text AS who, pg_is_in_recovery() AS is_replica FROM logs',
);

/** Goes on with the replay. What is replayed then may end this very statement, once it has done its work. */
async function goOn(standby: { query(text: string): Promise<unknown> }): Promise<void> {
  await standby.query('SELECT pg_wal_replay_resume()').catch((error: { readonly code?: string }) => {
    assert.equal(error.code, '40001', 'only a conflict with recovery may end it');
  });
}

describe('reads on a replica', () => {
  let pair: Replicated;
  let app: TestApp;
  let tenant: TestTenant;
  const opened: TestApp[] = [];
  before(async () => {
    pair = await startReplicated({ max_standby_streaming_delay: '0' });
    app = await start();
    tenant = await app.makeTenant();
  });
  after(async () => {
    for (const one of opened) await one.close();
    await pair.close();
  });
  afterEach(async () => {
    await goOn(pair.onStandby);
  });

  async function start(options: Partial<TestAppOptions> = {}): Promise<TestApp> {
    const started = await startTestApp({ beside: pair.beside, replica: pair.replica, ...options });
    opened.push(started);
    return started;
  }

  const figures = (of: TestApp = app) => of.database.replicaFigures() ?? assert.fail('no replica');
  const fallbacks = (reason: string, of?: TestApp) => figures(of).fallbacks.get(reason) ?? 0;

  /** A change that leaves one entry in the log, which its trace id finds again. */
  async function change(through: TestApp, traceId: string, of = tenant): Promise<void> {
    const { status, text } = await through.call('PUT', '/tenants/self', {
      key: of.key,
      body: { name: traceId },
      headers: { 'SVC-TRACE-ID': traceId },
    });
    assert.equal(status, 200, text);
  }

  async function newest(through: TestApp, query = '', of = tenant): Promise<string> {
    const { status, json, text } = await through.call('GET', `/logs?include=details&size=1${query}`, {
      key: of.key,
    });
    assert.equal(status, 200, text);
    return json.data[0]?.trace_id;
  }

  async function scansOfLogs(client: Replicated['onPrimary']): Promise<number> {
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query<{ scans: string }>(
      `SELECT coalesce(sum(idx_scan), 0) AS scans FROM pg_stat_user_indexes WHERE relname LIKE 'logs%'`,
    );
    return Number(rows[0]?.scans);
  }

  it('a process that is never asked for a page finds out too: its figures do not raise an alarm', async () => {
    const quiet = await start();
    assert.equal(figures(quiet).isServing, false);
    await eventually('its replica is known to serve', () => figures(quiet).isServing);
    assert.equal(figures(quiet).reads + fallbacks('resting', quiet), 0);
  });

  it('200 from the replica itself once it serves: its own counters move', async () => {
    await untilServing(app, tenant);
    const [before, readsBefore] = [await scansOfLogs(pair.onStandby), figures().reads];
    for (let n = 0; n < 20; n += 1) {
      await change(app, `t-${n}`);
      assert.equal(await newest(app, ['', '&page=1', '&entity_type=tenant'][n % 3]), `t-${n}`);
    }
    assert.equal(figures().reads - readsBefore, 20);
    await eventually('the standby has scanned', async () => (await scansOfLogs(pair.onStandby)) >= before + 20);
    assert.match(app.metrics.render(), /^strongroom_replica_reads_total \d/m);
    assert.match(app.metrics.render(), /^strongroom_replica_serving 1$/m);
  });

  it('200 with the own write at once, 200 times, written through one node and read through the other', async () => {
    const other = await start();
    await untilServing(app, tenant);
    await untilServing(other, tenant);
    const before = figures().reads + figures(other).reads;
    for (let n = 0; n < 200; n += 1) {
      const [writer, reader] = n % 2 === 0 ? [app, other] : [other, app];
      await change(writer, `n-${n}`);
      assert.equal(await newest(reader), `n-${n}`);
    }
    assert.ok(figures().reads + figures(other).reads - before >= 190, 'the replica answered nearly all of them');
  });

  it('200 with the own write while nothing is replayed; once it goes on the replica serves again', async () => {
    const clock = createFakeClock(Date.now());
    const paused = await start({ clock });
    const own = await paused.makeTenant();
    const changed = async (traceId: string) => {
      clock.advance(1);
      await change(paused, traceId, own);
      assert.equal(await newest(paused, '', own), traceId);
    };
    await untilServing(paused, own);
    await pair.onStandby.query('SELECT pg_wal_replay_pause()');
    await changed('unseen-by-the-replica');
    assert.deepEqual([fallbacks('behind', paused), figures(paused).isServing], [1, false]);

    const resting = fallbacks('resting', paused);
    for (let n = 0; n < 20; n += 1) await changed(`p-${n}`);
    assert.deepEqual([fallbacks('behind', paused), fallbacks('resting', paused) - resting], [1, 20]);

    await goOn(pair.onStandby);
    clock.advance(1_000);
    await untilServing(paused, own);
    const { reads } = figures(paused);
    await changed('again');
    assert.equal(figures(paused).reads, reads + 1);
    const told = paused.logLines.filter((line) => line.includes('read replica'));
    assert.deepEqual(
      told.map((line) => JSON.parse(line)).map(({ level, reason }) => [level, reason]),
      [
        ['info', undefined],
        ['warn', 'behind'],
        ['info', undefined],
      ],
    );
  });

  it('a replica shows a tenant its own rows alone, in the role without rights of its own', async () => {
    const stranger = await app.makeTenant();
    await untilServing(app, tenant);
    for (const { id } of [tenant, stranger]) {
      const rows = await app.database.readReplicated(id, (tx) => tx.run(SEEN, []));
      assert.deepEqual(rows, [{ tenant_id: id, who: 'strongroom_app', is_replica: true }]);
    }
    const login = await pair.onStandby.query(
      `SELECT rolinherit, rolsuper, rolbypassrls FROM pg_roles WHERE rolname = 'strongroom'`,
    );
    assert.deepEqual(login.rows, [{ rolinherit: false, rolsuper: false, rolbypassrls: false }]);
  });

  it('a read that a conflict with recovery ends is done by the primary, and the next by the replica', async () => {
    const patient = await start({ bounds: { ...DEFAULT_TIME_BOUNDS, statementMs: 2 * NAP_S * 1_000 } });
    await untilServing(patient, tenant);
    await pair.onPrimary.query('CREATE TABLE IF NOT EXISTS waste AS SELECT generate_series(1, 1000) AS n');
    await pair.onPrimary.query('CHECKPOINT');
    const places: boolean[] = [];
    let isOver = false;
    let isFirst = true;
    const reading = patient.database
      .readReplicated(tenant.id, async (tx) => {
        const napS = isFirst ? NAP_S : 0;
        isFirst = false;
        const [row] = await tx.run(NAP, [napS]);
        places.push(row?.is_replica ?? true);
        return places.length;
      })
      .finally(() => {
        isOver = true;
      });
    const isNapping = async () => {
      const found = await pair.onStandby.query(`SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`);
      return found.rowCount === 1;
    };
    await eventually('the replica is at it', isNapping);
    await pair.onPrimary.query('DELETE FROM waste');
    // Another transaction on the primary may still see the rows; then they are removed by a later round.
    await eventually('the conflict ends the read', async () => {
      await pair.onPrimary.query('VACUUM waste');
      return isOver;
    });
    assert.equal(await reading, 1);
    assert.deepEqual([places, fallbacks('conflict', patient), figures(patient).isServing], [[false], 1, true]);
    assert.equal(
      await patient.database.readReplicated(tenant.id, async (tx) => (await tx.run(NAP, [0]))[0]?.is_replica),
      true,
    );
  });

  it('what the work itself throws reaches the caller, and the replica is not blamed', async () => {
    await untilServing(app, tenant);
    const refused = app.database.readReplicated(tenant.id, async () => {
      throw new RangeError('of the work');
    });
    await assert.rejects(refused, RangeError);
    assert.equal(figures().isServing, true);
  });

  it('200 while the way to the replica swallows everything: a second for those under way, nothing for the rest', async (t) => {
    const proxy = await startPostgresProxy(pair.replica);
    t.after(() => proxy.close());
    const clock = createFakeClock(Date.now());
    const cutOff = await start({ clock, ...(proxy.target && { replica: proxy.target }) });
    await untilServing(cutOff, tenant);
    proxy.setWeather('silent');
    await change(cutOff, 'silent');
    assert.equal(await newest(cutOff), 'silent');
    // An open connection is silent, a new one is not had.
    assert.equal(fallbacks('silent', cutOff) + fallbacks('unreachable', cutOff), 1);
    assert.equal(figures(cutOff).isServing, false);
    const tookMs: number[] = [];
    for (let n = 0; n < 10; n += 1) {
      // Due for another look, which hangs for a second; no reader does, whatever else keeps one now and then.
      clock.advance(30_000);
      const startedMs = performance.now();
      assert.equal(await newest(cutOff), 'silent');
      tookMs.push(performance.now() - startedMs);
    }
    assert.ok(Math.min(...tookMs) < 1_000, 'nobody waits for a look');
    proxy.setWeather('pass');
    clock.advance(30_000);
    const recovers = async () => {
      clock.advance(30_000);
      await newest(cutOff);
      return figures(cutOff).isServing;
    };
    await eventually('it serves again', recovers);
    proxy.setWeather('silent');
    await cutOff.close();
    opened.splice(opened.indexOf(cutOff), 1);
  });

  it('200 for every request while the replica is killed in the middle of the load, and only those under way try it', async () => {
    await untilServing(app, tenant);
    const before = fallbacks('unreachable') + fallbacks('silent');
    let asked = 0;
    const reader = async (): Promise<void> => {
      while (asked < 400) {
        asked += 1;
        const { status, text } = await app.call('GET', '/logs', { key: tenant.key });
        assert.equal(status, 200, text);
      }
    };
    const readers = Promise.all(Array.from({ length: READERS }, reader));
    await eventually('the load runs', () => asked > 100);
    await pair.standby.end('SIGQUIT');
    await readers;
    assert.equal(figures().isServing, false);
    const waited = fallbacks('unreachable') + fallbacks('silent') - before;
    assert.ok(waited <= READERS, `${waited} tried it, and only those under way may`);
    assert.ok(fallbacks('unreachable') >= 1 && fallbacks('resting') >= 1);

    await pair.standby.start();
    pair = { ...pair, onStandby: await pair.standby.connect() };
    await untilServing(app, tenant);
    await change(app, 'after-the-restart');
    assert.equal(await newest(app), 'after-the-restart');
  });
});
