import assert from 'node:assert/strict';
import { after, afterEach, before, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { BEFORE_ECHO_MS, eventually } from '../testing/eventually.js';
import type { PostgresProxy } from '../testing/postgres-proxy.js';
import { startPostgresProxy } from '../testing/postgres-proxy.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { ChangeListener, ChangeNotice } from './changes.js';
import { announce, listenForChanges, sendEcho } from './changes.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';

suite('announcements', () => {
  let db: TestDatabase;
  let database: Database;
  let proxy: PostgresProxy;
  let listener: ChangeListener;
  const heard: ChangeNotice[] = [];
  /** What `isHearing` said at each gap: a gap must be called while nothing is trusted. */
  const gaps: boolean[] = [];

  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({ target: db.target, isDistributed: db.isDistributed, clock: systemClock });
    assert.ok('socketDir' in db.target);
    proxy = await startPostgresProxy(db.target);
    listener = listenForChanges({
      target: proxy.target,
      onChange: (change) => heard.push(change),
      onGap: () => gaps.push(listener?.isHearing() ?? false),
      sendEcho: (echo) => sendEcho(database, echo),
    });
  });
  afterEach(() => proxy?.setWeather('pass'));
  after(async () => {
    await listener.close();
    await proxy.close();
    await database.close();
    await db.drop();
  });

  const hearing = (): Promise<void> => eventually('changes are heard', () => listener.isHearing());
  const tenantsHeard = (): string[] => heard.map(({ tenantId }) => tenantId);

  /**
   * Announcements arrive in the order of their commits, so whatever went before has arrived when this one has. One that is made
   * while the listener is being replaced, as on a machine too busy for its echo, is missed: then another is made.
   */
  async function announceAndHear(): Promise<void> {
    const made = new Set<string>();
    await eventually('the last announcement arrives', async () => {
      const tenantId = newId();
      made.add(tenantId);
      await database.write(tenantId, (tx) => announce(tx, { kind: 'tenant', tenantId }));
      return tenantsHeard().some((heardOf) => made.has(heardOf));
    });
  }

  async function killListener(): Promise<number> {
    const { rows } = await db.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND query IN ('SELECT 1', 'LISTEN strongroom_changes')`,
    );
    return rows.length;
  }

  test('nothing is trusted before the first connection, and a gap is called first', async () => {
    assert.equal(listener.isHearing(), false);
    await hearing();
    assert.ok(gaps.length > 0);
    assert.ok(!gaps.includes(true), 'a gap was called while its past was trusted');
  });

  test('a committed change is announced with its kind and tenant', async () => {
    // What is announced while the listener is being replaced is missed: then it is announced for other tenants.
    await eventually('all of them are heard', async () => {
      await hearing();
      const gapsBefore = gaps.length;
      const [tenantId, other] = [newId(), newId()];
      await database.write(tenantId, (tx) => announce(tx, { kind: 'tenant', tenantId }));
      await database.write(other, (tx) => announce(tx, { kind: 'access', tenantId: other }));
      await database.write(other, (tx) => announce(tx, { kind: 'proxy', tenantId: other }));
      await announceAndHear();
      if (gaps.length > gapsBefore) return false;
      const ours = heard.filter((change) => change.tenantId === tenantId || change.tenantId === other);
      assert.deepEqual(ours, [
        { kind: 'tenant', tenantId },
        { kind: 'access', tenantId: other },
        { kind: 'proxy', tenantId: other },
      ]);
      return true;
    });
  });

  test('a change that is rolled back is not announced', async () => {
    await hearing();
    const tenantId = newId();
    const undone = database.write(tenantId, async (tx) => {
      await announce(tx, { kind: 'tenant', tenantId });
      throw new Error('second thoughts');
    });
    await assert.rejects(undone);
    await announceAndHear();
    assert.ok(!tenantsHeard().includes(tenantId));
  });

  test('in a batch with a failing neighbour the announcement comes with the commit', async () => {
    await hearing();
    const [good, bad] = [newId(), newId()];
    await Promise.allSettled([
      database.write(good, (tx) => announce(tx, { kind: 'tenant', tenantId: good })),
      database.write(bad, async (tx) => {
        await announce(tx, { kind: 'tenant', tenantId: bad });
        throw new Error('second thoughts');
      }),
    ]);
    await announceAndHear();
    assert.ok(tenantsHeard().includes(good));
    assert.ok(!tenantsHeard().includes(bad));
  });

  test('a notice nobody can read counts as a gap', async () => {
    await hearing();
    for (const payload of ['', 'tenant', 'tenant:', 'something:else']) {
      const before = gaps.length;
      await db.owner.query('SELECT pg_notify($1, $2)', ['strongroom_changes', payload]);
      await eventually(`a gap after "${payload}"`, () => gaps.length > before);
    }
  });

  test('a killed connection is a gap: nothing is trusted until a new one listens, which is a gap again', async () => {
    await hearing();
    const before = gaps.length;
    let wasDeaf = false;
    assert.equal(await killListener(), 1);
    await eventually('the loss is noticed', () => {
      wasDeaf ||= !listener.isHearing();
      return wasDeaf;
    });
    await hearing();
    const called = gaps.slice(before);
    assert.ok(called.length >= 2 && !called.includes(true));
    await announceAndHear();
  });

  test('a connection that falls silent is noticed before an echo would tell, and replaced once it can be', async () => {
    await hearing();
    const before = gaps.length;
    proxy.setWeather('silent');
    await eventually('the silence is noticed', () => !listener.isHearing(), BEFORE_ECHO_MS);
    assert.ok(gaps.length > before);
    proxy.setWeather('pass');
    await hearing();
    await announceAndHear();
  });

  test('after close nothing is trusted and no gap is called', async () => {
    const late: string[] = [];
    const short = listenForChanges({
      target: db.target,
      onChange: () => late.push('change'),
      onGap: () => late.push('gap'),
      sendEcho: (echo) => sendEcho(database, echo),
    });
    await eventually('it hears', () => short.isHearing());
    await short.close();
    assert.equal(short.isHearing(), false);
    late.length = 0;
    await announceAndHear();
    assert.deepEqual(late, []);
  });

  test('closed while it connects, it never comes to trust anything', async () => {
    for (let delay = 0; delay < 20; delay += 1) {
      const early = listenForChanges({
        target: db.target,
        onChange: () => {},
        onGap: () => {},
        sendEcho: (echo) => sendEcho(database, echo),
      });
      for (let turn = 0; turn < delay; turn += 1) await new Promise(setImmediate);
      await early.close();
      await announceAndHear();
      assert.equal(early.isHearing(), false, `closed after ${delay} turns`);
    }
  });
});
