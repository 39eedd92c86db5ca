// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { promote, startStandby } from '@strongroom/test-servers/standby.js';
import { eventually } from '../testing/eventually.js';
import type { Replicated } from '../testing/replicated.js';
import { loginTarget, startReplicated, untilServing } from '../testing/replicated.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import {
  ALL_OF_TOKENS,
  exportFrom,
  logCounts,
  makeMany,
  makeScratch,
  makeTransferPair,
  REVEAL_ALL,
} from '../testing/transfer.js';
import type { SocketTarget } from './connection.js';

describe('a replica that is not one of this primary', () => {
  let pair: Replicated;
  let other: PostgresServer;
  let app: TestApp;
  let tenant: TestTenant;
  const opened: TestApp[] = [];
  before(async () => {
    pair = await startReplicated();
    other = await startStandby(pair.primary, 'other');
    app = await start(pair.replica);
    tenant = await app.makeTenant();
  });
  after(async () => {
    for (const one of opened) await one.close();
    await other.remove();
    await pair.close();
  });

  async function start(replica: SocketTarget, primary?: SocketTarget): Promise<TestApp> {
    const started = await startTestApp({
      beside: pair.beside,
      replica,
      ...(primary && { target: () => primary }),
    });
    opened.push(started);
    return started;
  }

  async function seesOwnWrites(through: TestApp, label: string): Promise<void> {
    for (let n = 0; n < 10; n += 1) {
      const headers = { 'SVC-TRACE-ID': `${label}-${n}` };
      const written = await through.call('PUT', '/tenants/self', { key: tenant.key, body: { name: label }, headers });
      assert.equal(written.status, 200, written.text);
      const { status, json } = await through.call('GET', '/logs?include=details&size=1', { key: tenant.key });
      assert.deepEqual([status, json.data[0]?.trace_id], [200, `${label}-${n}`]);
    }
  }

  const leftAloneFor = (through: TestApp) =>
    through.logLines.filter((line) => line.includes('left alone')).map((line) => JSON.parse(line).reason);

  async function untilLeftAlone(through: TestApp): Promise<void> {
    await eventually('somebody has looked', async () => {
      await through.call('GET', '/logs', { key: tenant.key });
      return leftAloneFor(through).length > 0;
    });
  }

  it('an export reads from the replica, and its entries stand in the log of the primary', async () => {
    await untilServing(app, tenant);
    const key = await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS, REVEAL_ALL);
    const ids = await makeMany(app, key, 30);
    const before = app.database.replicaFigures()?.reads ?? 0;
    const folder = await makeScratch();
    const outcome = await exportFrom(app, tenant.id, `${folder.path}/out`, makeTransferPair(), {
      segmentTokensMax: 10,
    });
    await folder.remove();
    assert.deepEqual([outcome.kind, outcome.tokens], ['complete', ids.length]);
    assert.ok((app.database.replicaFigures()?.reads ?? 0) - before >= 4, 'a count and three batches');
    const logged = await logCounts(app, tenant.id, 'Token retrieved');
    assert.deepEqual(logged, new Map([...logged.keys()].map((id) => [id, 1])));
    assert.deepEqual([...logged.keys()].sort(), [...ids].sort());
  });

  for (const [what, change] of [
    ['another database of the server', { database: 'postgres' }],
    ['another login', { user: 'postgres' }],
  ] as const) {
    it(`200 with the own write for ${what}: it is never read`, async () => {
      const lost = await start({ ...pair.replica, ...change });
      await untilLeftAlone(lost);
      await seesOwnWrites(lost, 'lost');
      assert.deepEqual([leftAloneFor(lost), lost.database.replicaFigures()?.reads], [['other_server'], 0]);
    });
  }

  it('200 with the own write when the primary itself is given as its replica', async () => {
    const doubled = await start(loginTarget(pair.primary));
    await untilLeftAlone(doubled);
    await seesOwnWrites(doubled, 'doubled');
    assert.deepEqual([leftAloneFor(doubled), doubled.database.replicaFigures()?.reads], [['promoted'], 0]);
  });

  it('200 with the own write after a failover, while the replica still follows the old primary and is further', async () => {
    // The one to be promoted gets nothing more; what is written from here on only the old primary and its replica have.
    const onOther = await other.connect();
    await onOther.query(`ALTER SYSTEM SET primary_conninfo = ''`);
    await onOther.query('SELECT pg_reload_conf()');
    const isCutOff = async () => (await onOther.query('SELECT FROM pg_stat_wal_receiver')).rowCount === 0;
    await eventually('it receives nothing', isCutOff);
    await pair.onPrimary.query(
      'CREATE TABLE ballast AS SELECT repeat(md5(n::text), 20) FROM generate_series(1, 20000) n',
    );
    await promote(other);

    const { rows } = await onOther.query<{ lsn: string }>('SELECT pg_current_wal_insert_lsn() + 1000000 AS lsn');
    const isFurther = async () =>
      (
        await pair.onStandby.query('SELECT FROM (SELECT pg_last_wal_replay_lsn() >= $1 AS is_so) t WHERE is_so', [
          rows[0]?.lsn,
        ])
      ).rowCount === 1;
    await eventually('the replica of the old primary is further by far', isFurther);
    await onOther.end();

    const moved = await start(pair.replica, loginTarget(other));
    await untilLeftAlone(moved);
    await seesOwnWrites(moved, 'moved');
    assert.deepEqual([leftAloneFor(moved), moved.database.replicaFigures()?.reads], [['other_timeline'], 0]);
  });

  it('200 with the own write when the replica is promoted while it serves', async () => {
    await untilServing(app, tenant);
    await promote(pair.standby);
    await seesOwnWrites(app, 'promoted');
    assert.equal(app.database.replicaFigures()?.fallbacks.get('promoted'), 1);
    assert.equal(leftAloneFor(app).at(-1), 'promoted');
  });
});
