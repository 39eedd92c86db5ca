import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Actor, Entry } from '../../../audit/entry.js';
import { operatorContext } from '../../../audit/entry.js';
import { ensureLogPartitions } from '../../../audit/partitions.js';
import { recordAll } from '../../../audit/record.js';
import { newId } from '../../../kernel/ids.js';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import { TOKEN_EVENTS } from '../../../vault/events.js';
import { insertOf } from '../../logs/filters/plan-fixture.js';
import type { Person } from '../../portal/portal-fixture.js';
import { makePerson } from '../../portal/portal-fixture.js';
import type { LogHistogram } from '../schema.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const application: Actor = { type: 'application', id: newId() };
const session: Actor = { type: 'session', id: newId() };
const read: Entry = { event: TOKEN_EVENTS.retrieved, entityId: 'one', entityType: 'card', outcome: 'success' };
const failed: Entry = { ...read, outcome: 'failure' };
const created: Entry = { event: TOKEN_EVENTS.created, entityId: 'two', outcome: 'success' };

describe('the histogram of a log', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  let person: Person;
  before(async () => {
    clock = createFakeClock(Math.floor(Date.now() / DAY_MS) * DAY_MS + DAY_MS / 2);
    app = await startTestApp({ clock });
    for (const days of [40, 130, 220, 410]) await ensureLogPartitions(app.database, clock.nowMs() - days * DAY_MS);
    tenant = await app.makeTenant('Ours');
    person = await makePerson(app, tenant.id, 'READ_ONLY');
    await act(0, application, [read, read, failed]);
    await act(2 * HOUR_MS, session, [read]);
    await act(3 * DAY_MS, application, [read, created]);
    await act(20 * DAY_MS, { type: 'user', id: person.userId }, [created, read]);
    await act(200 * DAY_MS, application, [created, created]);
    // The first bucket may begin a week before the day that is looked back to.
    await act(409 * DAY_MS, application, [created]);
  });
  after(() => app.close());

  const act = (agoMs: number, actor: Actor, entries: readonly Entry[], tenantId = tenant.id) =>
    app.database.write(tenantId, (tx) => recordAll(tx, { ...operatorContext(clock.nowMs() - agoMs), actor }, entries));
  const ask = async (query: string, of = person, tenantId = tenant.id): Promise<LogHistogram> => {
    const answer = await of.browser.call('GET', `/portal/api/tenants/${tenantId}/logs/histogram?${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer.json;
  };
  const date = (agoMs: number) => encodeURIComponent(new Date(clock.nowMs() - agoMs).toISOString());
  /** Counts of what is not empty, by how many whole days ago the bucket began. */
  const shown = ({ buckets }: LogHistogram) =>
    buckets
      .filter(({ count }) => count > 0)
      .map(({ from, count }) => [Math.floor((clock.nowMs() - Date.parse(from)) / DAY_MS), count]);

  /** Every bucket of an answer, asked for from the log itself. */
  async function assertAsInLog(
    query: string,
    { buckets, total, bucket_seconds: seconds }: LogHistogram,
  ): Promise<void> {
    let sum = 0;
    let before: string | undefined;
    for (const { from, to, count } of buckets) {
      assert.ok(before === undefined || before === from, 'without gaps');
      before = to;
      assert.equal(Date.parse(to) - Date.parse(from), seconds * 1_000);
      sum += count;
    }
    assert.equal(total, sum);
    const [first, last] = [buckets[0]?.from ?? '', buckets.at(-1)?.to ?? ''];
    const dates = `start_date=${encodeURIComponent(first)}&end_date=${encodeURIComponent(last)}`;
    const { json } = await app.call('GET', `/logs?page=1&size=1000&${dates}&${query}`, { key: tenant.key });
    assert.equal(json.pagination.total_items, total, query);
    const entries = json.data as { created_at: string }[];
    for (const { from, to, count } of buckets) {
      const within = entries.filter(
        ({ created_at: at }) => Date.parse(at) >= Date.parse(from) && Date.parse(at) < Date.parse(to),
      );
      assert.equal(within.length, count, `${query} ${from}`);
    }
  }

  it('has the last 30 days by day unless dates are given', async () => {
    const histogram = await ask('');
    assert.equal(histogram.bucket_seconds, 86_400);
    assert.equal(histogram.buckets.length, 31);
    assert.equal(histogram.is_partial, false);
    assert.equal(histogram.complete_from, undefined);
    const ofTokens = await ask('entity_type=card');
    assert.deepEqual(shown(ofTokens), [
      [20, 1],
      [3, 1],
      [0, 4],
    ]);
  });

  it('is what the log has under each filter, over days, over hours and over a year', async () => {
    const filters = [
      ...['', 'entity_type=card', 'operation=create', 'outcome=failure', 'entity_type=nonsense', 'entity_id=one'],
      ...[`actor_id=${application.id}`, `actor_id=${session.id}`, `actor_id=${person.userId}`, `actor_id=${newId()}`],
      ...[`actor_id=${application.id.toUpperCase()}&operation=read`, `entity_id=one&actor_id=${application.id}`],
      ...['actor_id=nobody', 'entity_type=card&operation=read&outcome=success'],
    ];
    const spans = [
      `start_date=${date(3 * HOUR_MS)}`,
      `start_date=${date(5 * DAY_MS)}`,
      `start_date=${date(25 * DAY_MS)}`,
    ];
    const past = `start_date=${date(210 * DAY_MS)}&end_date=${date(190 * DAY_MS)}`;
    for (const filter of filters) {
      for (const span of [...spans, past, `start_date=${date(399 * DAY_MS)}`]) {
        const histogram = await ask(`${filter}&${span}`);
        assert.ok(histogram.buckets.length <= 60);
        await assertAsInLog(filter, histogram);
      }
    }
  });

  it('looks 400 days back at most, and nowhere in the future', async () => {
    const all = await ask('operation=create&entity_type=token&start_date=0001-01-01&end_date=9999-12-31');
    assert.deepEqual(
      shown(all).map(([, count]) => count),
      [2, 1, 1],
    );
    assert.equal(all.bucket_seconds, 7 * 86_400);
    for (const none of ['start_date=9999-01-01', 'end_date=0001-01-02', 'start_date=2020-01-02&end_date=2020-01-01']) {
      const { buckets, total } = await ask(none);
      assert.deepEqual([buckets, total], [[], 0], none);
    }
  });

  it('400 for a date that is none, as in the list', async () => {
    const { status, json } = await person.browser.call(
      'GET',
      `/portal/api/tenants/${tenant.id}/logs/histogram?start_date=yesterday`,
    );
    assert.deepEqual([status, Object.keys(json.errors)], [400, ['start_date']]);
  });

  it('counts nothing of a neighbour, by counters or in the log', async () => {
    const theirs = await app.makeTenant('Theirs');
    const neighbour = await makePerson(app, theirs.id, 'ADMIN');
    for (const filter of [
      'entity_type=card',
      'entity_id=one',
      `actor_id=${application.id}`,
      `actor_id=${session.id}`,
    ]) {
      for (const span of ['', `start_date=${date(3 * HOUR_MS)}`]) {
        assert.equal((await ask(`${filter}&${span}`, neighbour, theirs.id)).total, 0, filter);
        assert.notEqual((await ask(`${filter}&${span}`)).total, 0, filter);
      }
    }
  });

  describe('with more entries than are looked at', () => {
    let crowded: TestTenant;
    let reader: Person;
    before(async () => {
      crowded = await app.makeTenant('Crowded');
      reader = await makePerson(app, crowded.id, 'ADMIN');
      // A second apart, past the counters: what is counted shows which of the two was asked.
      await app.db.owner.query(
        insertOf(`SELECT $1::uuid AS tenant_id, $2::timestamptz - n * interval '1 second' AS created_at,
          gen_random_uuid() AS id, 'application' AS actor_type, $3::uuid AS actor_id, 'bank' AS entity_type,
          'hot' AS entity_id, 'read' AS operation, 'm' AS message, 'success' AS outcome FROM generate_series(0, 24999) AS n`),
        [crowded.id, new Date(clock.nowMs()), application.id],
      );
    });

    it('says from where on it is complete, and is so from there on', async () => {
      const histogram = await ask('entity_id=hot', reader, crowded.id);
      assert.equal(histogram.is_partial, true);
      assert.ok(histogram.total >= 10_000 && histogram.total <= 10_001);
      const hours = await ask(`entity_id=hot&start_date=${date(10 * HOUR_MS)}`, reader, crowded.id);
      assert.equal(hours.bucket_seconds, 900);
      const from = Date.parse(hours.complete_from ?? '');
      const complete = hours.buckets.filter((bucket) => Date.parse(bucket.from) >= from);
      assert.ok(complete.length >= 10, `${complete.length} buckets are complete`);
      for (const bucket of complete.slice(0, -1)) assert.equal(bucket.count, 900, bucket.from);
    });

    it('gives days from the counters instead, where these can answer', async () => {
      const entries = Array.from({ length: 7 }, () => ({ ...read, entityType: 'bank' }) as const);
      await act(0, application, entries, crowded.id);
      const histogram = await ask(`entity_type=bank&start_date=${date(3 * DAY_MS)}`, reader, crowded.id);
      assert.deepEqual(
        [histogram.is_partial, histogram.bucket_seconds, histogram.total],
        [false, 86_400, 7],
        'what was written past the counters is not counted',
      );
    });

    it('gives no whole days for a part of one', async () => {
      const histogram = await ask(`entity_type=bank&start_date=${date(10 * HOUR_MS)}`, reader, crowded.id);
      assert.deepEqual([histogram.is_partial, histogram.bucket_seconds], [true, 900]);
    });
  });

  it('does not look behind the months of the log that are kept', async () => {
    const short = await startTestApp({
      clock,
      env: { STRONGROOM_LOG_RETENTION_MONTHS: '1' },
    });
    try {
      const { id } = await short.makeTenant();
      const one = await makePerson(short, id, 'ADMIN');
      const { json } = await one.browser.call(
        'GET',
        `/portal/api/tenants/${id}/logs/histogram?start_date=${date(300 * DAY_MS)}&entity_type=card`,
      );
      const now = new Date(clock.nowMs());
      const kept = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 1, 1);
      const from = Date.parse(json.buckets[0].from);
      assert.ok(from <= kept && from > kept - json.bucket_seconds * 1_000, json.buckets[0].from);
    } finally {
      await short.close();
    }
  });
});
