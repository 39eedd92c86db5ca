import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { kindNumber } from '../../../audit/kind.js';
import { newId } from '../../../kernel/ids.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const DAY_MS = 86_400_000;
const [ANNA, BERT, NOBODY] = [newId(), newId(), newId()];

interface Entry {
  readonly id: string;
  readonly created_at: string;
  readonly actor_id?: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly operation: string;
  readonly outcome: string;
}

/** What each filter is asked for. Some of it nobody has. */
const ASKED = {
  entity_type: ['card', 'token', 'nonsense'],
  entity_id: ['e1', 'e2'],
  actor_id: [ANNA, BERT.toUpperCase(), NOBODY],
  operation: ['read', 'update', 'Read'],
  outcome: ['success', 'failure'],
} as const;
type Filter = keyof typeof ASKED;
const FILTERS = Object.keys(ASKED) as Filter[];
type Asked = { readonly [F in Filter]?: string };

/** Every way to give some of the filters. */
const ALL_ASKED = FILTERS.reduce<Asked[]>(
  (ways, filter) => ways.flatMap((way) => [way, ...ASKED[filter].map((value) => ({ ...way, [filter]: value }))]),
  [{}],
);

describe('GET /logs by actor, operation and outcome', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let all: Entry[];
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(NOON_MS) });
    tenant = await app.makeTenant();
    const other = await app.makeTenant();
    for (const { id } of [tenant, other]) await seed(id);
    all = (await list('size=1000')).data;
    assert.equal(all.length, 400);
  });
  after(() => app.close());

  /** Entries of many kinds over three months, many of one millisecond; some without an actor, some without a number. */
  async function seed(tenantId: string): Promise<void> {
    const kinds = Array.from({ length: 400 }, (_, n) => ({
      at: new Date(NOON_MS - Math.floor(n / 4) * ((60 * DAY_MS) / 100)),
      actor: [ANNA, BERT, null, BERT, ANNA][n % 5] ?? null,
      type: ['card', 'token', 'bank'][Math.floor(n / 2) % 3],
      entity: ['e1', 'e2', 'e3', `own-${n}`][Math.floor(n / 3) % 4],
      operation: ['read', 'read', 'update', 'create', 'delete', 'read', 'search'][n % 7],
      outcome: ['success', 'success', 'failure', 'success'][Math.floor(n / 7) % 4],
      numbered: n % 11 !== 0,
    }));
    await app.db.owner.query(`SELECT ensure_log_partitions($1, 4)`, [new Date(NOON_MS - 65 * DAY_MS)]);
    await app.db.owner.query('DELETE FROM logs WHERE tenant_id = $1', [tenantId]);
    await app.db.owner.query(
      `INSERT INTO logs (tenant_id, created_at, id, actor_type, actor_id, entity_type, entity_id, operation, message, outcome, kind)
       SELECT $1, at, gen_random_uuid(), CASE WHEN actor IS NULL THEN NULL ELSE 'application' END, actor, type, entity, operation, 'm', outcome,
         CASE WHEN numbered THEN ${kindNumber({ entity_type: 'type', operation: 'operation', outcome: 'outcome' })} ELSE 0 END
       FROM jsonb_to_recordset($2::jsonb) AS given (at timestamptz, actor uuid, type text, entity text, operation text, outcome text, numbered boolean)`,
      [tenantId, JSON.stringify(kinds)],
    );
  }

  async function list(query: string) {
    const { status, json, text } = await app.call('GET', `/logs?include=details&${query}`, { key: tenant.key });
    assert.equal(status, 200, `${query}: ${text}`);
    return json;
  }
  const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id);
  const queryOf = (asked: Asked) => new URLSearchParams(asked).toString();

  /** The list by reading all of it: what the product must not do. */
  function expected(asked: Asked, isInTime: (atMs: number) => boolean = () => true): Entry[] {
    const isSo = (entry: Entry, filter: Filter) => {
      const value = asked[filter];
      return value === undefined || entry[filter] === (filter === 'actor_id' ? value.toLowerCase() : value);
    };
    return all.filter(
      (entry) => isInTime(Date.parse(entry.created_at)) && FILTERS.every((filter) => isSo(entry, filter)),
    );
  }

  it(`200 with exactly what all filters given let through, in order, for each of ${ALL_ASKED.length} ways to give some`, async () => {
    let found = 0;
    for (const asked of ALL_ASKED) {
      const { data } = await list(`size=1000&${queryOf(asked)}`);
      assert.deepEqual(idsOf(data), idsOf(expected(asked)), JSON.stringify(asked));
      if (data.length > 0) found += 1;
    }
    assert.ok(found > 100, `only ${found} ways found anything, so little was shown`);
  });

  it('200 between dates, to the millisecond and across months, with each filter and several', async () => {
    const startMs = Date.parse(all[300]?.created_at ?? '');
    const endMs = Date.parse(all[100]?.created_at ?? '');
    const dates = `start_date=${new Date(startMs).toISOString()}&end_date=${new Date(endMs).toISOString()}`;
    const ways: Asked[] = [
      ...[
        { actor_id: ANNA },
        { operation: 'read' },
        { outcome: 'failure' },
        { entity_type: 'card', operation: 'read' },
      ],
      ...[
        { actor_id: BERT, entity_id: 'e1' },
        { entity_id: 'e2', outcome: 'success' },
      ],
    ];
    for (const asked of ways) {
      const within = expected(asked, (atMs) => atMs >= startMs && atMs < endMs);
      assert.ok(within.length > 0, JSON.stringify(asked));
      assert.deepEqual(idsOf((await list(`size=1000&${dates}&${queryOf(asked)}`)).data), idsOf(within));
      const everything = 'start_date=0001-01-01&end_date=9999-12-31T23:59:59.999Z';
      assert.deepEqual(idsOf((await list(`size=1000&${everything}&${queryOf(asked)}`)).data), idsOf(expected(asked)));
      const never = 'start_date=2030-01-15&end_date=2030-01-14';
      assert.deepEqual((await list(`${never}&${queryOf(asked)}`)).data, []);
    }
  });

  for (const asked of [
    { actor_id: ANNA },
    { operation: 'read' },
    { outcome: 'success' },
    { entity_type: 'card', outcome: 'failure' },
    { actor_id: BERT, operation: 'read', outcome: 'success' },
    { actor_id: ANNA, entity_id: 'e1' },
  ] satisfies Asked[]) {
    const words = Object.keys(asked).join(' and ');

    it(`200 along cursors by ${words}: each entry once, though a page ends within a millisecond`, async () => {
      const walked: string[] = [];
      let start: string | undefined = '';
      while (start !== undefined) {
        const { data, pagination }: { data: Entry[]; pagination: { after?: string; next?: string } } = await list(
          `size=7&start=${start}&${queryOf(asked)}`,
        );
        walked.push(...idsOf(data));
        assert.equal(pagination.after, pagination.next);
        start = pagination.after;
      }
      assert.deepEqual(walked, idsOf(expected(asked)));
    });

    it(`200 by page number by ${words}: exact totals, past the end too, and from a cursor on`, async () => {
      const entries = idsOf(expected(asked));
      for (const page of [1, 2, Math.ceil(entries.length / 9), 1_000_000]) {
        const { data, pagination } = await list(`page=${page}&size=9&${queryOf(asked)}`);
        assert.deepEqual(idsOf(data), entries.slice((page - 1) * 9, page * 9));
        assert.deepEqual(
          [pagination.total_items, pagination.total_pages, pagination.page_number],
          [entries.length, Math.ceil(entries.length / 9), page],
        );
      }
      const { after } = (await list(`size=4&${queryOf(asked)}`)).pagination;
      const { data, pagination } = await list(`page=2&size=5&start=${after}&${queryOf(asked)}`);
      assert.deepEqual([idsOf(data), pagination.total_items], [entries.slice(9, 14), entries.length - 4]);
    });
  }

  it('400 invalid_cursor for a cursor of other filters; an actor in other letters is the same filter', async () => {
    const call = (query: string) => app.call('GET', `/logs?${query}`, { key: tenant.key });
    const { after } = (await list(`size=1&actor_id=${ANNA}&operation=read&outcome=success`)).pagination;
    const same = `actor_id=${ANNA.toUpperCase()}&operation=read&outcome=success`;
    assert.equal((await call(`start=${after}&${same}`)).status, 200);
    const { after: unfiltered } = (await list('size=1')).pagination;
    for (const query of [
      `start=${after}`,
      `start=${after}&actor_id=${ANNA}&operation=read`,
      `start=${after}&actor_id=${BERT}&operation=read&outcome=success`,
      `start=${after}&actor_id=${ANNA}&operation=success&outcome=read`,
      `start=${after}&actor_id=${ANNA}&operation=read&outcome=success&entity_type=card`,
      `start=${unfiltered}&operation=read`,
      `start=${unfiltered}&actor_id=nonsense`,
    ]) {
      const { status, json } = await call(query);
      assert.deepEqual([status, json.code], [400, 'invalid_cursor'], query);
    }
  });

  it('200 without rows for what nobody is or does, 400 for what is too long, no text or sent twice', async () => {
    for (const query of ['actor_id=nonsense', 'operation=nonsense', 'outcome=nonsense', 'outcome=Success']) {
      const { data, pagination } = await list(`page=1&${query}`);
      assert.deepEqual([data, pagination.total_items, pagination.total_pages], [[], 0, 0], query);
    }
    assert.equal((await list('size=1000&actor_id=&operation=&outcome=')).data.length, all.length);
    const most = `operation=${'x'.repeat(50)}&outcome=${'x'.repeat(50)}&actor_id=${'x'.repeat(200)}`;
    assert.deepEqual((await list(most)).data, []);
    for (const [name, value] of [
      ['operation', 'x'.repeat(51)],
      ['outcome', 'x'.repeat(51)],
      ['actor_id', 'x'.repeat(201)],
      ['operation', '%00'],
      ['actor_id', '%00'],
      ['outcome', 'success&outcome=denied'],
      ['actor_id', `${ANNA}&actor_id=${ANNA}`],
    ] as const) {
      const { status, json } = await app.call('GET', `/logs?${name}=${value}`, { key: tenant.key });
      assert.deepEqual([status, json.code, Object.keys(json.errors)], [400, 'validation_failed', [name]], value);
    }
  });
});
