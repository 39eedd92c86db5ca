import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const LOG_FIELDS = ['created_at', 'entity_id', 'entity_type', 'message', 'operation', 'tenant_id'];
const ACTOR_FIELDS = ['actor_id', 'actor_type'];
const DETAIL_FIELDS = ['id', 'outcome'];
const ORIGIN_FIELDS = ['source_address', 'trace_id'];

interface Seed {
  readonly atMs?: number;
  readonly type?: string;
  readonly entity?: string;
  readonly message?: string;
}

describe('GET /logs', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(NOON_MS) });
  });
  after(() => app.close());

  /** A tenant whose log holds exactly these rows. */
  async function tenantWith(seeds: readonly Seed[]): Promise<TestTenant> {
    const tenant = await app.makeTenant();
    await app.db.owner.query('DELETE FROM logs WHERE tenant_id = $1', [tenant.id]);
    await seed(tenant, seeds);
    return tenant;
  }

  async function seed(tenant: TestTenant, seeds: readonly Seed[]): Promise<void> {
    await app.db.owner.query(
      `INSERT INTO logs (tenant_id, created_at, id, entity_type, entity_id, operation, message, outcome)
       SELECT $1, to_timestamp(at / 1000.0), gen_random_uuid(), type, entity, 'create', message, 'success'
       FROM unnest($2::float8[], $3::text[], $4::text[], $5::text[]) AS given (at, type, entity, message)`,
      [
        tenant.id,
        seeds.map(({ atMs }) => atMs ?? NOON_MS),
        seeds.map(({ type }) => type ?? 'card'),
        seeds.map(({ entity }) => entity ?? 'e'),
        seeds.map(({ message }) => message ?? 'Token created'),
      ],
    );
  }

  const list = (tenant: TestTenant, query = '') => app.call('GET', `/logs${query}`, { key: tenant.key });
  const messagesOf = ({ json }: Answer): string[] => json.data.map((row: { message: string }) => row.message);
  const numbered = (count: number): Seed[] =>
    Array.from({ length: count }, (_, n) => ({ atMs: NOON_MS - n * 1_000, message: `m${n}` }));
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `m${from + n}`);

  async function expect400(tenant: TestTenant, query: string, code: string, ...fields: string[]): Promise<void> {
    const { status, json } = await list(tenant, query);
    assert.deepEqual([status, json.code], [400, code], query);
    assert.deepEqual(Object.keys(json.errors), fields, query);
  }

  describe('its filters', () => {
    it('200 with only what each filter, and all of them together, let through', async () => {
      const tenant = await tenantWith([
        { message: 'a', type: 'card', entity: '1', atMs: NOON_MS },
        { message: 'b', type: 'card', entity: '2', atMs: NOON_MS + 1 },
        { message: 'c', type: 'token', entity: '1', atMs: NOON_MS + 2 },
        { message: 'd', type: 'application', entity: '1', atMs: NOON_MS + 3 },
        { message: 'e', type: 'card', entity: '1', atMs: NOON_MS + 4 },
      ]);
      const from = 'start_date=2030-01-15T12:00:00.001Z';
      const to = 'end_date=2030-01-15T12:00:00.004Z';
      for (const [query, expected] of [
        ['', 'edcba'],
        ['?entity_type=card', 'eba'],
        ['?entity_type=token', 'c'],
        ['?entity_id=1', 'edca'],
        ['?entity_type=card&entity_id=1', 'ea'],
        [`?${from}`, 'edcb'],
        [`?${to}`, 'dcba'],
        [`?${from}&${to}`, 'dcb'],
        [`?entity_type=card&${from}`, 'eb'],
        [`?entity_id=1&${from}&${to}`, 'dc'],
        [`?entity_type=card&entity_id=2&${from}&${to}`, 'b'],
        [`?entity_type=card&entity_id=1&${from}&${to}`, ''],
        ['?entity_type=nonsense', ''],
        ['?entity_type=Card', ''],
        ['?entity_type=nonsense&entity_id=1', ''],
        ['?entity_id=3', ''],
        ['?start_date=2030-01-15T12:00:00.004Z&end_date=2030-01-15T12:00:00.001Z', ''],
        ['?start_date=2030-01-15T12:00:00.001Z&end_date=2030-01-15T12:00:00.001Z', ''],
        ['?unknown=1&Entity_Type=token', 'edcba'],
        ['?entity_type=&entity_id=&start_date=&end_date=&start=&size=&page=&include=', 'edcba'],
        ['?entity_type', 'edcba'],
      ] as const) {
        const answer = await list(tenant, query);
        assert.equal(answer.status, 200, query);
        assert.equal(messagesOf(answer).join(''), expected, query);
      }
    });

    it('200 for an entity id of any characters, matched exactly', async () => {
      const entities = ['it\'s 100% _ \\ "', 'Ünïcode 名', 'x'.repeat(400), 'a+b&c=d', '*'];
      const tenant = await tenantWith(entities.map((entity, n) => ({ entity, message: `m${n}` })));
      for (const [n, entity] of entities.entries()) {
        const answer = await list(tenant, `?entity_id=${encodeURIComponent(entity)}`);
        assert.deepEqual(messagesOf(answer), [`m${n}`], entity);
      }
    });

    const instant = NOON_MS + 500;
    for (const form of [
      '2030-01-15T12:00:00.500Z',
      '2030-01-15t12:00:00.500z',
      '2030-01-15T12:00:00.500',
      '2030-01-15T12:00:00,5Z',
      '2030-01-15T12:00:00.4990001Z',
      '2030-01-15T12:00:00.500+00:00',
      '2030-01-15T12:00:00.500%2B00:00',
      '2030-01-15T14:00:00.500+02',
      '2030-01-15T06:30:00.500-0530',
      '2030-01-14T22:00:00.500-14:00',
      '20300115T120000.500Z',
      '2030-015T12:00:00.500Z',
      '2030-W03-2T12:00:00.500Z',
    ]) {
      it(`200 for the date ${form}: start includes that millisecond, end leaves it out`, async () => {
        const tenant = await tenantWith([
          { message: 'before', atMs: instant - 1 },
          { message: 'at', atMs: instant },
          { message: 'after', atMs: instant + 1 },
        ]);
        assert.deepEqual(messagesOf(await list(tenant, `?start_date=${form}`)), ['after', 'at']);
        assert.deepEqual(messagesOf(await list(tenant, `?end_date=${form}`)), ['before']);
      });
    }

    it('200 for a date alone, which means midnight in UTC, and for the ends of the calendar', async () => {
      const midnight = Date.UTC(2030, 0, 15);
      const tenant = await tenantWith([
        { message: 'yesterday', atMs: midnight - 1 },
        { message: 'today', atMs: midnight },
      ]);
      assert.deepEqual(messagesOf(await list(tenant, '?start_date=2030-01-15')), ['today']);
      assert.deepEqual(messagesOf(await list(tenant, '?end_date=20300115')), ['yesterday']);
      const everything = '?start_date=0001-01-01&end_date=9999-12-31T23:59:59.999Z';
      assert.deepEqual(messagesOf(await list(tenant, everything)), ['today', 'yesterday']);
    });

    it('400 for a date that is impossible or not complete, naming the parameter', async () => {
      const tenant = await tenantWith([]);
      for (const date of [
        '2030-02-30',
        '2030-13-01',
        '2030-01',
        '2030',
        '0000-01-01',
        '2030-01-15T24:00:00Z',
        '2030-01-15T12:00:60Z',
        '2030-01-15T12:00:00+25:00',
        '2030-W54-1',
        '1/15/2030',
        '1894622400',
        'yesterday',
        '%00',
      ]) {
        await expect400(tenant, `?start_date=${date}`, 'validation_failed', 'start_date');
        await expect400(tenant, `?end_date=${date}`, 'validation_failed', 'end_date');
      }
    });

    it('400 for filters that are too long, counted in characters and not in bytes', async () => {
      const tenant = await tenantWith([]);
      const emoji = encodeURIComponent('😀');
      assert.equal((await list(tenant, `?entity_type=${emoji.repeat(50)}&entity_id=${emoji.repeat(400)}`)).status, 200);
      await expect400(tenant, `?entity_type=${'x'.repeat(51)}`, 'validation_failed', 'entity_type');
      await expect400(tenant, `?entity_id=${'x'.repeat(401)}`, 'validation_failed', 'entity_id');
      await expect400(tenant, '?entity_id=a%00b', 'validation_failed', 'entity_id');
    });

    it('400 for any parameter sent twice, naming it', async () => {
      const tenant = await tenantWith([]);
      for (const [name, value] of [
        ['entity_type', 'card'],
        ['entity_id', '1'],
        ['start_date', '2030-01-15'],
        ['end_date', '2030-01-15'],
        ['start', 'x'],
        ['size', '1'],
        ['page', '1'],
        ['include', 'details'],
      ] as const) {
        await expect400(tenant, `?${name}=${value}&${name}=${value}`, 'validation_failed', name);
      }
    });
  });

  describe('what it shows', () => {
    it('200 with exactly the specified fields; the rest only with include=details, what is unknown left out', async () => {
      const tenant = await tenantWith([{ atMs: NOON_MS - 1 }]);
      await app.call('PUT', '/tenants/self', {
        key: tenant.key,
        body: { name: 'N' },
        headers: { 'SVC-TRACE-ID': 't-1' },
      });
      const fieldsOf = async (query: string): Promise<string[][]> =>
        (await list(tenant, query)).json.data.map((row: object) => Object.keys(row).sort());
      const withActor = [...LOG_FIELDS, ...ACTOR_FIELDS];
      assert.deepEqual(await fieldsOf(''), [withActor.sort(), LOG_FIELDS]);
      assert.deepEqual(await fieldsOf('?include=details'), [
        [...withActor, ...DETAIL_FIELDS, ...ORIGIN_FIELDS].sort(),
        [...LOG_FIELDS, ...DETAIL_FIELDS].sort(),
      ]);
      const [entry] = (await list(tenant, '?include=details')).json.data;
      assert.deepEqual([entry.trace_id, entry.source_address, entry.outcome], ['t-1', '127.0.0.1', 'success']);
      assert.equal(entry.created_at, '2030-01-15T12:00:00.000+00:00');
      assert.equal(entry.tenant_id, tenant.id);
    });

    it('400 for any other value of include, saying which one there is', async () => {
      const tenant = await tenantWith([]);
      await expect400(tenant, '?include=Details', 'validation_failed', 'include');
      assert.match((await list(tenant, '?include=id')).json.errors.include[0], /details/);
    });

    it('200 newest first, rows of one millisecond by id', async () => {
      const tenant = await tenantWith([...numbered(5), ...Array.from({ length: 30 }, () => ({ message: 'tie' }))]);
      const { json } = await list(tenant, '?size=1000&include=details');
      const order = json.data.map((row: { created_at: string; id: string }) => `${row.created_at} ${row.id}`);
      assert.equal(order.length, 35);
      assert.deepEqual(order, [...order].sort().reverse());
    });
  });

  describe('its pages', () => {
    it('200 with twenty rows unless asked, and two names for one cursor, absent on the last page', async () => {
      const tenant = await tenantWith(numbered(21));
      const first = await list(tenant);
      assert.deepEqual(Object.keys(first.json), ['pagination', 'data']);
      assert.deepEqual(Object.keys(first.json.pagination).sort(), ['after', 'next', 'page_size']);
      assert.equal(first.json.pagination.page_size, 20);
      assert.equal(first.json.pagination.after, first.json.pagination.next);
      assert.match(first.json.pagination.after, /^[A-Za-z0-9_-]{1,500}$/);
      const last = await list(tenant, `?start=${first.json.pagination.after}`);
      assert.deepEqual(messagesOf(last), ['m20']);
      assert.deepEqual(last.json.pagination, { page_size: 20 });
      assert.deepEqual((await list(tenant, '?size=21')).json.pagination, { page_size: 21 });
    });

    it('200 for sizes 1 and 1000, 400 for what is no whole number between them', async () => {
      const tenant = await tenantWith(numbered(1_001));
      assert.equal((await list(tenant, '?size=1')).json.data.length, 1);
      assert.equal((await list(tenant, '?size=1000')).json.data.length, 1_000);
      for (const size of ['0', '-1', '1001', '1.5', '1e2', 'all', '%205', '99999999999999999999']) {
        await expect400(tenant, `?size=${size}`, 'validation_failed', 'size');
      }
      for (const page of ['0', '-1', '2147483648', '1.5', 'last']) {
        await expect400(tenant, `?page=${page}`, 'validation_failed', 'page');
      }
    });

    it('200 by page number with exact totals, past the end too', async () => {
      const tenant = await tenantWith(numbered(45));
      const pages: readonly [page: number, from: number, to: number][] = [
        [1, 0, 20],
        [2, 20, 40],
        [3, 40, 45],
        [4, 45, 45],
        [2_147_483_647, 45, 45],
      ];
      for (const [page, from, to] of pages) {
        const answer = await list(tenant, `?page=${page}&size=20`);
        const { after, next, ...totals } = answer.json.pagination;
        assert.deepEqual(totals, { total_items: 45, page_number: page, page_size: 20, total_pages: 3 });
        assert.deepEqual(messagesOf(answer), names(from, to));
        assert.deepEqual([after !== undefined, next === after], [page < 3, true]);
      }
      const none = await list(tenant, '?page=1&entity_type=nonsense');
      assert.deepEqual(none.json.pagination, { total_items: 0, page_number: 1, page_size: 20, total_pages: 0 });
    });

    it('200 for a page next to a cursor: rows and totals count from the cursor on', async () => {
      const tenant = await tenantWith(numbered(45));
      const { after } = (await list(tenant, '?size=20')).json.pagination;
      for (const [page, from, to] of [
        [1, 20, 30],
        [3, 40, 45],
        [4, 45, 45],
      ] as const) {
        const answer = await list(tenant, `?start=${after}&page=${page}&size=10`);
        assert.deepEqual(messagesOf(answer), names(from, to));
        const { total_items, total_pages, page_number } = answer.json.pagination;
        assert.deepEqual([total_items, total_pages, page_number], [25, 3, page]);
      }
    });

    it('200 for an entity id across all types, in order, with totals and cursors', async () => {
      const types = ['card', 'token', 'application', 'tenant', 'us_bank_routing_number'];
      const seeds = numbered(25).map((row, n) => ({ ...row, entity: 'one', type: types[n % 5] ?? '' }));
      const tenant = await tenantWith([...seeds, ...numbered(10)]);
      const first = await list(tenant, '?entity_id=one&page=1&size=15');
      assert.deepEqual(messagesOf(first), names(0, 15));
      assert.equal(first.json.pagination.total_items, 25);
      assert.deepEqual(messagesOf(await list(tenant, '?entity_id=one&page=2&size=15')), names(15, 25));
      const next = await list(tenant, `?entity_id=one&start=${first.json.pagination.next}`);
      assert.deepEqual(messagesOf(next), names(15, 25));
    });
  });

  describe('its cursors', () => {
    for (const filter of ['', '&entity_type=card', '&entity_id=e', '&entity_type=card&entity_id=e']) {
      it(`200 on every step of a walk (${filter || 'no filter'}): each row once while others are written`, async () => {
        // Five rows a millisecond, so that pages of seven end in the middle of one.
        const seeds = Array.from({ length: 60 }, (_, n) => ({ atMs: NOON_MS - Math.floor(n / 5), message: `m${n}` }));
        const tenant = await tenantWith(seeds);
        const walked: string[] = [];
        let cursor: string | undefined = '';
        for (let step = 0; cursor !== undefined && step < 30; step += 1) {
          const answer: Answer = await list(tenant, `?size=7&start=${cursor}${filter}`);
          walked.push(...messagesOf(answer));
          cursor = answer.json.pagination.after;
          await seed(tenant, [
            { atMs: NOON_MS + step, message: 'newer' },
            { atMs: NOON_MS + step, message: 'newer' },
          ]);
          await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'N' } });
        }
        assert.equal(cursor, undefined);
        assert.deepEqual(walked.sort(), names(0, 60).sort());
      });
    }

    it('200 with another size or the same instant in other words: the cursor is bound to neither', async () => {
      const tenant = await tenantWith(numbered(10));
      const { after } = (await list(tenant, '?size=2&end_date=2030-01-16T00:00:00Z')).json.pagination;
      assert.deepEqual(messagesOf(await list(tenant, `?size=3&end_date=20300116&start=${after}`)), names(2, 5));
      assert.equal((await list(tenant, `?include=details&end_date=20300116&start=${after}`)).json.data.length, 8);
    });

    it('400 invalid_cursor for a cursor of other filters or of another tenant', async () => {
      const [tenant, other] = [await tenantWith(numbered(5)), await tenantWith(numbered(5))];
      const { after } = (await list(tenant, '?size=2&entity_type=card')).json.pagination;
      assert.equal((await list(tenant, `?entity_type=card&start=${after}`)).status, 200);
      for (const query of ['', '&entity_type=token', '&entity_id=card', '&entity_type=card&entity_id=e']) {
        await expect400(tenant, `?start=${after}${query}`, 'invalid_cursor', 'start');
      }
      for (const date of ['start_date', 'end_date']) {
        await expect400(tenant, `?start=${after}&entity_type=card&${date}=2030-01-15`, 'invalid_cursor', 'start');
      }
      await expect400(other, `?start=${after}&entity_type=card`, 'invalid_cursor', 'start');
    });

    it('400 invalid_cursor for a cursor with any one character changed, cut off or added', async () => {
      const tenant = await tenantWith(numbered(3));
      const { after } = (await list(tenant, '?size=1')).json.pagination as { after: string };
      const changed = [...after].flatMap((character, at) =>
        [character === 'A' ? 'B' : 'A', character === '_' ? '-' : '_', '!', '%2B'].map(
          (other) => after.slice(0, at) + other + after.slice(at + 1),
        ),
      );
      for (const cursor of [...changed, after.slice(0, -1), after.slice(1), `${after}A`, `${after}=`, 'x', '%00']) {
        const { status, json } = await list(tenant, `?start=${cursor}`);
        assert.equal(status, 400, cursor);
        assert.deepEqual(Object.keys(json.errors), ['start'], cursor);
        if (cursor !== '%00') assert.equal(json.code, 'invalid_cursor', cursor);
      }
    });
  });
});

describe('GET /logs/entity-types', () => {
  it('200 with a plain sorted list whose every value works as a filter; unknown parameters are ignored', async () => {
    const app = await startTestApp();
    try {
      const { key } = await app.makeTenant();
      const { status, json } = await app.call('GET', '/logs/entity-types?entity_type=card&size=0', { key });
      assert.equal(status, 200);
      const values: string[] = json.map((row: { value: string }) => row.value);
      assert.deepEqual(values, [...values].sort());
      for (const value of values) {
        const logs = await app.call('GET', `/logs?entity_type=${value}`, { key });
        const isOnlyThat = logs.json.data.every((row: { entity_type: string }) => row.entity_type === value);
        assert.deepEqual([logs.status, isOnlyThat], [200, true], value);
      }
    } finally {
      await app.close();
    }
  });
});
