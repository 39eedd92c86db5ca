import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { assertConventional, assertNeedsKey, assertNeedsPermission, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, LIST, READ } from './resource.js';
import type { Subject } from './subject.js';
import type { Tenant } from './tenants.js';

interface Log {
  readonly tenant_id: string;
  readonly actor_id?: string;
  readonly actor_type?: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly operation: string;
  readonly message: string;
  readonly created_at: string;
}

interface LogPage {
  readonly pagination: Readonly<Record<string, unknown>> & { readonly after?: string; readonly next?: string };
  readonly data: readonly Log[];
}

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;

function suite(subject: () => Subject): void {
  const keys = () => subject().keys;
  const get = (query: string, key = keys().management) => subject().call('GET', `/logs?${query}`, { key });
  const page = async (query: string, key?: string): Promise<LogPage> => {
    const answer = await get(query, key);
    assert.equal(answer.status, 200, `${query}: ${answer.text}`);
    return answer.as();
  };
  const when = (instant: string): string => encodeURIComponent(instant);

  describe('GET /logs', () => {
    let tenant: Tenant;
    before(async () => {
      for (const name of ['Logged once', 'Logged twice', 'Logged thrice']) {
        const { call } = subject();
        tenant = (await call('PUT', '/tenants/self', { key: keys().management, body: { name } })).as();
      }
    });

    it('200 with the wrapper and exactly the specified fields, newest first', async () => {
      const { pagination, data, ...rest } = await page('');
      assert.deepEqual(rest, {});
      assert.equal(pagination.page_size, 20);
      const [newest] = data;
      assert.deepEqual(newest, {
        tenant_id: tenant.id,
        actor_id: tenant.modified_by,
        actor_type: 'application',
        entity_type: 'tenant',
        entity_id: tenant.id,
        operation: 'update',
        message: 'Tenant updated',
        created_at: tenant.modified_at,
      });
      const times = data.map(({ created_at }) => created_at);
      for (const time of times) assert.match(time, DATE);
      assert.deepEqual(times, [...times].sort().reverse());
    });

    it('200 narrowed by type and by entity, alone and together; nothing for what is not there', async () => {
      const all = (await page('size=1000')).data;
      const tenants = all.filter(({ entity_type }) => entity_type === 'tenant');
      const applications = all.filter(({ entity_type }) => entity_type === 'application');
      assert.ok(tenants.length >= 4 && applications.length >= 1);
      assert.deepEqual((await page('size=1000&entity_type=tenant')).data, tenants);
      assert.deepEqual((await page('size=1000&entity_type=application')).data, applications);
      assert.deepEqual((await page(`size=1000&entity_id=${tenant.id}`)).data, tenants);
      const [made] = applications;
      assert.deepEqual((await page(`entity_type=application&entity_id=${made?.entity_id}`)).data, [made]);
      for (const query of ['entity_type=dragon', 'entity_type=card', `entity_type=card&entity_id=${tenant.id}`]) {
        assert.deepEqual((await page(query)).data, []);
      }
    });

    it('200 narrowed by who did it, what it was and how it ended, alone and with the others', async () => {
      const all = (await page('size=1000')).data;
      const [newest] = all;
      const actor = newest?.actor_id ?? '';
      const byActor = all.filter(({ actor_id }) => actor_id === actor);
      const updates = all.filter(({ operation }) => operation === 'update');
      assert.ok(byActor.length >= 3 && byActor.length < all.length && updates.length >= 3);
      assert.deepEqual((await page(`size=1000&actor_id=${actor}`)).data, byActor);
      assert.deepEqual((await page(`size=1000&actor_id=${actor.toUpperCase()}`)).data, byActor);
      assert.deepEqual((await page('size=1000&operation=update')).data, updates);
      assert.deepEqual((await page('size=1000&outcome=success')).data, all);
      const both = byActor.filter((log) => log.operation === 'update' && log.entity_id === tenant.id);
      const query = `actor_id=${actor}&operation=update&outcome=success&entity_type=tenant&entity_id=${tenant.id}`;
      assert.deepEqual((await page(`size=1000&${query}`)).data, both);
      const { data, pagination } = await page(`page=2&size=1&${query}`);
      assert.deepEqual(
        [data, pagination.total_items, pagination.total_pages],
        [both.slice(1, 2), both.length, both.length],
      );
      const { pagination: first } = await page(`size=2&${query}`);
      assert.deepEqual((await page(`size=1&start=${first.after}&${query}`)).data, both.slice(2, 3));
      assertProblem(await get(`start=${first.after}&operation=update`), 400, 'invalid_cursor');
      for (const none of ['actor_id=nobody', 'operation=Update', 'outcome=dragon', `actor_id=${tenant.id}`]) {
        assert.deepEqual((await page(none)).data, [], none);
      }
    });

    it('200 from start_date on and before end_date, to the millisecond', async () => {
      const all = (await page('size=1000')).data;
      const middle = all[Math.floor(all.length / 2)]?.created_at ?? '';
      const from = all.filter(({ created_at }) => created_at >= middle);
      const until = all.filter(({ created_at }) => created_at < middle);
      assert.deepEqual((await page(`size=1000&start_date=${when(middle)}`)).data, from);
      assert.deepEqual((await page(`size=1000&end_date=${when(middle)}`)).data, until);
      assert.deepEqual((await page(`start_date=${when(middle)}&end_date=${when(middle)}`)).data, []);
    });

    it('200 for a date in every complete notation', async () => {
      for (const date of [
        '2024-02-13',
        '2024-02-13T09:30:00Z',
        '2024-02-13T09:30:00.125+01:00',
        '2024-02-13T09:30:00',
      ]) {
        assert.ok((await page(`start_date=${when(date)}`)).data.length > 0, date);
        assert.deepEqual((await page(`end_date=${when(date)}`)).data, [], date);
      }
      assert.ok((await page('start_date=2024-02-13T09:30:00+00:00')).data.length > 0, 'a plus that became a space');
    });

    const bad: Record<string, string> = {
      'start_date=yesterday': 'start_date',
      'end_date=2024-02-30': 'end_date',
      'end_date=2024-02': 'end_date',
      'size=0': 'size',
      'size=1001': 'size',
      'size=many': 'size',
      'page=0': 'page',
      'include=everything': 'include',
      [`entity_type=${'x'.repeat(51)}`]: 'entity_type',
      [`entity_id=${'x'.repeat(401)}`]: 'entity_id',
      [`operation=${'x'.repeat(51)}`]: 'operation',
      [`outcome=${'x'.repeat(51)}`]: 'outcome',
      [`actor_id=${'x'.repeat(201)}`]: 'actor_id',
      'outcome=denied&outcome=failure': 'outcome',
      'entity_id=%00': 'entity_id',
      'size=1&size=2': 'size',
    };
    for (const [query, parameter] of Object.entries(bad)) {
      it(`400 for ${query.slice(0, 40)}, naming ${parameter}`, async () => {
        const { errors } = assertProblem(await get(query), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [parameter]);
      });
    }

    it('200 page by page along the cursor: each entry once, the cursor under both names, none at the end', async () => {
      const all = (await page('size=1000')).data;
      const walked: Log[] = [];
      let query = 'size=2';
      for (let turn = 0; turn <= all.length; turn += 1) {
        const { pagination, data } = await page(query);
        walked.push(...data);
        assert.equal(pagination.after, pagination.next);
        if (pagination.after === undefined) break;
        assert.match(pagination.after, /^[A-Za-z0-9_-]{1,500}$/);
        query = `size=2&start=${pagination.after}`;
      }
      assert.deepEqual(walked, all);
    });

    it('200 by page number with exact totals, and empty past the end', async () => {
      const all = (await page('size=1000')).data;
      const { pagination, data } = await page('page=2&size=2');
      const totals = { total_items: all.length, page_number: 2, page_size: 2, total_pages: Math.ceil(all.length / 2) };
      const { after: _after, next: _next, ...rest } = pagination;
      assert.deepEqual(rest, totals);
      assert.deepEqual(data, all.slice(2, 4));
      const past = await page('page=1000&size=100');
      assert.deepEqual(past.data, []);
      assert.equal(past.pagination.page_number, 1000);
    });

    it('400 for a cursor that is made up, of other filters or of another tenant', async () => {
      const { after } = (await page('size=1')).pagination;
      assertProblem(await get('start=abc'), 400, 'invalid_cursor');
      assertProblem(await get(`start=${after}&entity_type=tenant`), 400, 'invalid_cursor');
      assertProblem(await get(`start=${after}`, keys().otherTenantManagement), 400, 'invalid_cursor');
    });

    it('200 with the four further fields only where they are asked for', async () => {
      const [plain] = (await page('size=1')).data;
      const [detailed] = (await page('size=1&include=details')).data;
      const more = Object.keys(detailed ?? {}).filter((name) => !Object.hasOwn(plain ?? {}, name));
      assert.deepEqual(more.sort(), ['id', 'outcome', 'source_address', 'trace_id']);
    });

    it('200 with nothing of another tenant, whatever is asked for', async () => {
      const stranger = keys().otherTenantManagement;
      const seen = (await page('size=1000', stranger)).data;
      assert.ok(seen.length > 0 && seen.every(({ tenant_id }) => tenant_id !== tenant.id));
      assert.deepEqual((await page(`entity_id=${tenant.id}`, stranger)).data, []);
    });

    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'GET', '/logs'));

    it('403 without log:read', () => {
      const others = [keys().unrelated, keys().public, keys().private];
      return assertNeedsPermission(subject().call, ['GET', '/logs'], others, 'log:read');
    });

    it('200 for HEAD, with a trailing slash and from another origin', () =>
      assertConventional(subject().call, '/logs?size=5', keys().readOnly));
  });

  describe('GET /logs/entity-types', () => {
    const PATH = '/logs/entity-types';

    it('200 with a plain sorted array that holds the known types; each works as a filter', async () => {
      const answer = await subject().call('GET', PATH, { key: keys().readOnly });
      assert.equal(answer.status, 200);
      const types = answer.as<{ display_name: string; value: string }[]>();
      const values = types.map(({ value }) => value);
      assert.deepEqual(values, [...new Set(values)].sort());
      for (const known of ['application', 'bank', 'card', 'proxy', 'tenant', 'token'])
        assert.ok(values.includes(known));
      for (const type of types) {
        assert.deepEqual(Object.keys(type).sort(), ['display_name', 'value']);
        assert.ok(
          (await page(`entity_type=${type.value}`)).data.every(({ entity_type }) => entity_type === type.value),
        );
      }
    });

    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'GET', PATH));

    it('403 without log:read', () => {
      const others = [keys().unrelated, keys().public, keys().private];
      return assertNeedsPermission(subject().call, ['GET', PATH], others, 'log:read');
    });

    it('200 for HEAD, with a trailing slash and from another origin, the same in every tenant', async () => {
      await assertConventional(subject().call, PATH, keys().otherTenantManagement);
      const { call } = subject();
      const [mine, theirs] = [
        await call('GET', PATH, { key: keys().management }),
        await call('GET', PATH, { key: keys().otherTenantManagement }),
      ];
      assert.equal(mine.text, theirs.text);
    });
  });
}

export const logs: Resource = {
  endpoints: [
    endpoint(['GET', '/logs'], 'log:read', 200, LIST),
    endpoint(['GET', '/logs/entity-types'], 'log:read', 200, READ),
  ],
  needsNoTokens: true,
  suite,
};
