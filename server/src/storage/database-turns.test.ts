import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { newId } from '../kernel/ids.js';
import { eventually } from '../testing/eventually.js';
import { PATIENT_BOUNDS } from '../testing/test-app.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Bulk } from './bulk.js';
import type { Database } from './database.js';
import { createDatabase } from './database.js';
import { statement } from './statement.js';

const PING = statement<{ n: number }>('ping', 'SELECT 1 AS n');
const LOOK: Bulk<number, { n: number }, number> = {
  statement: statement('look', 'SELECT $1::int AS n'),
  order: 1,
  values: (rows) => [rows.length],
  collect: (results) => results[0]?.n ?? 0,
};
const READ_MAX = 8;
const OF_TENANT = 4;
const OF_PAGES = 5;
const BY_KEY_OF_TENANT = 2;
const OF_IDENTITIES = 2;

suite('connections that one tenant may hold', () => {
  let db: TestDatabase;
  let database: Database;
  let tenants: string[];
  let hostile: string;
  let neighbour: string;
  // Others each time: what was slow before is remembered of a tenant for a while.
  beforeEach(() => {
    tenants = Array.from({ length: 5 }, () => newId());
    [hostile = '', neighbour = ''] = tenants;
  });
  before(async () => {
    db = await createTestDatabase();
    database = createDatabase({
      target: db.target,
      clock: systemClock,
      bounds: PATIENT_BOUNDS,
      connections: { readMax: READ_MAX, writeMax: 1 },
    });
  });
  after(async () => {
    await database.close();
    await db.drop();
  });

  /** Pages that keep their connections until they are let go. */
  function hold(tenantId: string, count: number, how: 'read' | 'readPage' = 'readPage') {
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let begun = 0;
    const pages = Array.from({ length: count }, () =>
      database[how](tenantId, async (tx) => {
        await tx.run(PING, []);
        begun += 1;
        await held;
      }),
    );
    return { begun: () => begun, over: Promise.all(pages), letGo };
  }

  test('a tenant with sixty pages under way holds half of the connections, and its neighbour reads as if it were alone', async () => {
    const flood = hold(hostile, 60);
    const answers = await Promise.all([
      database.find(neighbour, LOOK, 1),
      database.lookUp((tx) => tx.run(PING, [])),
      database.read(neighbour, (tx) => tx.run(PING, [])),
      database.readPage(neighbour, (tx) => tx.run(PING, [])),
      database.readAtOnce(neighbour, (tx) => tx.run(PING, [])),
      database.readReplicated(neighbour, (tx) => tx.run(PING, [])),
    ]);
    assert.deepEqual(answers, [1, ...Array(5).fill([{ n: 1 }])]);
    assert.deepEqual(await database.read(hostile, (tx) => tx.run(PING, [])), [{ n: 1 }], 'also its own reads by key');
    await eventually('the pages are under way', () => flood.begun() >= OF_TENANT);
    assert.equal(flood.begun(), OF_TENANT);
    flood.letGo();
    await flood.over;
    assert.equal(flood.begun(), 60);
  });

  test('a tenant with sixty reads by key and sixty pages under way leaves its neighbour every way to read', async () => {
    const [reads, pages] = [hold(hostile, 60, 'read'), hold(hostile, 60)];
    const begun = () => [reads.begun(), pages.begun()].join();
    await eventually('both are under way', () => begun() === [BY_KEY_OF_TENANT, OF_TENANT].join());
    const answers = await Promise.all([
      database.find(neighbour, LOOK, 1),
      database.lookUp((tx) => tx.run(PING, [])),
      database.read(neighbour, (tx) => tx.run(PING, [])),
      database.readPage(neighbour, (tx) => tx.run(PING, [])),
    ]);
    assert.deepEqual(answers, [1, ...Array(3).fill([{ n: 1 }])]);
    assert.equal(begun(), [BY_KEY_OF_TENANT, OF_TENANT].join());
    for (const { letGo } of [reads, pages]) letGo();
    await Promise.all([reads.over, pages.over]);
  });

  test('a thousand made-up keys hold a quarter of the connections while they are looked for, and nobody else waits', async () => {
    let letGo: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let begun = 0;
    const flood = Array.from({ length: 1_000 }, () =>
      database.readCredential(async (tx) => {
        await tx.run(PING, []);
        begun += 1;
        await held;
      }),
    );
    const answers = await Promise.all([
      database.find(neighbour, LOOK, 1),
      database.lookUp((tx) => tx.run(PING, [])),
      database.read(neighbour, (tx) => tx.run(PING, [])),
      database.readPage(neighbour, (tx) => tx.run(PING, [])),
    ]);
    assert.deepEqual(answers, [1, ...Array(3).fill([{ n: 1 }])]);
    await eventually('some are under way', () => begun >= OF_IDENTITIES);
    assert.equal(begun, OF_IDENTITIES);
    letGo();
    await Promise.all(flood);
    assert.equal(begun, 1_000);
  });

  test('pages of many tenants leave connections for look-ups and shared reads', async () => {
    const floods = tenants.map((tenantId) => hold(tenantId, 4));
    assert.deepEqual(
      await Promise.all([database.find(neighbour, LOOK, 1), database.lookUp((tx) => tx.run(PING, []))]),
      [1, [{ n: 1 }]],
    );
    const begun = () => floods.reduce((sum, flood) => sum + flood.begun(), 0);
    await eventually('the pages are under way', () => begun() >= OF_PAGES);
    assert.equal(begun(), OF_PAGES);
    for (const { letGo } of floods) letGo();
    await Promise.all(floods.map(({ over }) => over));
  });
});
