import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { FilteredLog } from './log-fixture.js';
import { openLog } from './log-fixture.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const AT_ONCE = 5_000;
const ACTOR = newId();

/** One act can write thousands of entries in a millisecond. The indexes for filters do not have the ids that order them. */
describe('GET /logs with thousands of entries in one millisecond', () => {
  let app: TestApp;
  let log: FilteredLog;
  /** By the filter that finds them. */
  const ids = new Map<string, readonly string[]>();
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(NOON_MS) });
    log = await openLog(app);
    // Some before and after that millisecond; two kinds within it, in no order of their ids.
    const all = await log.write(
      `SELECT $1::timestamptz + CASE WHEN n <= 20 THEN n - 40 WHEN n > $2 - 20 THEN n - $2 ELSE -20 END * interval '1 millisecond' AS created_at,
         $3::uuid AS actor_id, 'bulk' AS entity_id, 'card' AS entity_type, 'read' AS operation,
         CASE WHEN n % 3 = 0 THEN 'failure' ELSE 'success' END AS outcome FROM generate_series(1, $2::int) AS n`,
      [new Date(NOON_MS), AT_ONCE, ACTOR],
    );
    const { rows } = await app.db.owner.query<{ id: string }>(
      `SELECT id FROM logs WHERE tenant_id = $1 AND outcome = 'failure'`,
      [log.tenant.id],
    );
    const failures = new Set(rows.map(({ id }) => id));
    const failed = all.filter((id) => failures.has(id));
    for (const filter of ['entity_type=card', 'entity_id=bulk', `actor_id=${ACTOR}`, 'operation=read']) {
      ids.set(filter, all);
      ids.set(`${filter}&outcome=failure`, failed);
    }
    ids.set(`actor_id=${ACTOR}&entity_id=bulk`, all);
    assert.deepEqual([all.length, failed.length], [AT_ONCE, Math.floor(AT_ONCE / 3)]);
  });
  after(() => app.close());

  it('200 along cursors: each entry once and in order, wherever in the millisecond a page ends', async () => {
    for (const [filter, expected] of ids) assert.deepEqual(await log.walk(filter, 997), expected, filter);
    const few = 'entity_id=bulk&outcome=failure';
    assert.deepEqual(await log.walk(few, 37), ids.get(few));
  });

  it('200 by page number: what is skipped ends within the millisecond, and totals are exact', async () => {
    for (const [filter, expected] of ids) {
      for (const page of [1, 2, 17]) {
        const found = await log.page(`${filter}&size=91&page=${page}`);
        assert.deepEqual(
          [found.ids, found.total],
          [expected.slice((page - 1) * 91, page * 91), expected.length],
          filter,
        );
      }
    }
  });

  it('200 from a cursor within the millisecond by page number: the total is what is left', async () => {
    for (const [filter, expected] of ids) {
      const { after } = await log.page(`${filter}&size=500`);
      const found = await log.page(`${filter}&size=50&page=3&start=${after}`);
      assert.deepEqual([found.ids, found.total], [expected.slice(600, 650), expected.length - 500], filter);
    }
  });

  it('200 between dates that begin or end with the millisecond', async () => {
    const date = (ms: number) => encodeURIComponent(new Date(ms).toISOString());
    const [from, to] = [NOON_MS - 20, NOON_MS - 19];
    const all = ids.get('entity_type=card') ?? [];
    for (const [dates, expected] of [
      [`start_date=${date(from)}&end_date=${date(to)}`, all.slice(20, -19)],
      [`start_date=${date(to)}`, all.slice(0, 20)],
      [`end_date=${date(from)}`, all.slice(-19)],
    ] as const) {
      assert.deepEqual(await log.walk(`entity_type=card&${dates}`, 1_000), expected, dates);
      assert.equal((await log.page(`entity_type=card&page=1&${dates}`)).total, expected.length, dates);
    }
  });
});
