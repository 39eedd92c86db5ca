import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertConventional, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, LIST, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Listed, Token, Vault } from './vault.js';
import { CARD, listed, logged, openVault, post } from './vault.js';

/** Lists are tried in a container of their own, so that other suites do not matter. */
const CONTAINER = '/lists/';

function suite(subject: () => Subject): void {
  let vault: Vault;
  /** Newest first, as lists have them. */
  let made: Token[];
  let fingerprint: string;
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: vault.full, ...sent });
  const list = async (path: string, key = vault.full): Promise<Listed<Token>> =>
    listed(await call('GET', path, { key }));
  const search = async (path: string, body: object, key = vault.full): Promise<Listed<Token>> =>
    listed(await call('POST', path, { key, body }));
  const ids = ({ data }: Listed<Token>) => data.map(({ id }) => id);
  const idsOf = (...places: number[]) => places.map((place) => made[place]?.id);

  describe('lists of tokens', () => {
    before(async () => {
      vault = await openVault(subject());
      const make = (body: object) => post<Token>(subject().call, vault.full, '/tokens', body);
      const metadata = { suite: 'Lists' };
      const bodies = [
        { data: 'zero', containers: [CONTAINER], metadata, search_indexes: ['{{ data }}'] },
        { data: 'one', containers: [`${CONTAINER}below/`], metadata: { ...metadata, odd: 'yes' } },
        { data: CARD, type: 'card', containers: [CONTAINER], fingerprint_expression: '{{ data.number }}' },
        { data: 'three', containers: [CONTAINER], metadata: { odd: 'YES' }, search_indexes: ['{{ data }}'] },
      ];
      made = [];
      for (const body of bodies) made.unshift(await make(body));
      fingerprint = made[1]?.fingerprint ?? '';
      assert.match(fingerprint, /\S/);
    });

    it('200 by page number: newest first, exact totals, empty past the end', async () => {
      const first = await list(`/tokens?container=${CONTAINER}&size=2`);
      assert.deepEqual(ids(first), idsOf(0, 1));
      assert.deepEqual(first.pagination, { total_items: 3, page_number: 1, page_size: 2, total_pages: 2 });
      assert.deepEqual(ids(await list(`/tokens?container=${CONTAINER}&size=2&page=2`)), idsOf(3));
      const past = await list(`/tokens?container=${CONTAINER}&page=9`);
      assert.deepEqual([past.data, past.pagination.page_number], [[], 9]);
      const none = await list('/tokens?container=/nowhere/');
      assert.deepEqual([none.data, none.pagination.total_pages], [[], 0]);
    });

    it('200 along the cursor: each token once, the cursor under both names, none at the end', async () => {
      const walked: string[] = [];
      let path = `/v2/tokens?container=${CONTAINER}&size=1`;
      for (let turn = 0; turn < 9; turn += 1) {
        const page = await list(path);
        walked.push(...ids(page));
        assert.equal(page.pagination.after, page.pagination.next);
        assert.equal(page.pagination.page_size, 1);
        if (page.pagination.after === undefined) break;
        assert.match(page.pagination.after, /^[A-Za-z0-9_-]{1,500}$/);
        path = `/v2/tokens?container=${CONTAINER}&size=1&start=${page.pagination.after}`;
      }
      assert.deepEqual(walked, idsOf(0, 1, 2, 3), 'containers below are included');
    });

    it('200 narrowed by id, type, container and metadata in each notation, together and repeated', async () => {
      const all = made.map(({ id }) => `id=${id}`).join('&');
      const narrowed: Record<string, number[]> = {
        [all]: [0, 1, 2, 3],
        [`${all}&type=card`]: [1],
        [`${all}&type=card&type=token`]: [0, 1, 2, 3],
        [`${all}&container=${CONTAINER}below/`]: [2],
        [`${all}&metadata.suite=LISTS`]: [2, 3],
        [`${all}&metadata[odd]=yes`]: [0, 2],
        [`${all}&metadata=${encodeURIComponent('{"odd":"yes","suite":"lists"}')}`]: [2],
        [`${all}&metadata.suite=lists&type=bank`]: [],
        [`id=${made[0]?.id.toUpperCase()}`]: [],
        'id=nobody': [],
      };
      for (const [query, places] of Object.entries(narrowed)) {
        assert.deepEqual(ids(await list(`/tokens?${query}`)), idsOf(...places), query);
        assert.deepEqual(ids(await list(`/v2/tokens?${query}`)), idsOf(...places), `v2 ${query}`);
      }
      const byFingerprint = await list(`/v2/tokens?fingerprint=${fingerprint}&container=${CONTAINER}`);
      assert.deepEqual(ids(byFingerprint), idsOf(1));
    });

    for (const query of ['size=0', 'size=101', 'size=1&size=2', 'metadata={', 'id=%00']) {
      it(`400 for ${query} on both lists`, async () => {
        for (const path of ['/tokens', '/v2/tokens'])
          assertProblem(await call('GET', `${path}?${query}`), 400, 'validation_failed');
      });
    }

    it('400 for a page number that is none, and for a cursor made up, of other filters or another tenant', async () => {
      assertProblem(await call('GET', '/tokens?page=0'), 400, 'validation_failed');
      const { after } = (await list(`/v2/tokens?container=${CONTAINER}&size=1`)).pagination;
      const path = '/v2/tokens?size=1';
      assertProblem(await call('GET', `${path}&start=abc`), 400, 'invalid_cursor');
      assertProblem(await call('GET', `${path}&start=${after}`), 400, 'invalid_cursor');
      const theirs = await call('GET', `${path}&container=${CONTAINER}&start=${after}`, { key: vault.stranger });
      assertProblem(theirs, 400, 'invalid_cursor');
      const body = { query: '', start: after };
      assertProblem(await call('POST', '/v2/tokens/search', { body }), 400, 'invalid_cursor');
    });

    it('leaves out, of pages and totals alike, what the caller may not read', async () => {
      const inside = `container=${CONTAINER}`;
      for (const key of [vault.cards, vault.stranger]) {
        const seen = await list(`/tokens?${inside}`, key);
        assert.deepEqual([seen.data, seen.pagination.total_items], [[], 0]);
        assert.deepEqual((await list(`/v2/tokens?${inside}`, key)).data, []);
        const found = await search('/tokens/search', { query: `container:"${CONTAINER}"` }, key);
        assert.deepEqual([found.data, found.pagination.total_items], [[], 0]);
      }
      const masked = await list(`/tokens?${inside}&type=card`, vault.plain);
      assert.deepEqual(masked.data[0]?.data, {
        number: 'XXXXXXXXXXXX4242',
        expiration_month: 12,
        expiration_year: 2031,
      });
    });

    it('200 for searches by every field, with operators and ranges, alike on both versions', async () => {
      const inside = `container:"${CONTAINER}*"`;
      const found: Record<string, number[]> = {
        [inside]: [0, 1, 2, 3],
        [`${inside} AND type:card`]: [1],
        [`${inside} AND NOT type:card`]: [0, 2, 3],
        [`id:${made[0]?.id} OR id:${made[3]?.id}`]: [0, 3],
        [`${inside} AND (metadata.odd:yes OR fingerprint:${fingerprint})`]: [0, 1, 2],
        [`${inside} AND data:three`]: [0],
        [`${inside} AND data:THREE`]: [],
        [`${inside} AND created_by:${vault.fullId} AND -metadata.suite:"lists"`]: [0, 1],
        [`${inside} AND created_at:[2020-01-01 TO *]`]: [0, 1, 2, 3],
        [`${inside} AND created_at:{* TO 2020-01-01}`]: [],
      };
      for (const [query, places] of Object.entries(found)) {
        const page = await search('/tokens/search', { query, size: 100 });
        assert.deepEqual(ids(page), idsOf(...places), query);
        assert.equal(page.pagination.total_items, places.length);
        assert.deepEqual(ids(await search('/v2/tokens/search', { query, size: 100 })), idsOf(...places), `v2 ${query}`);
      }
      assert.ok(ids(await search('/tokens/search', {})).length >= 4, 'an empty query finds all');
    });

    it('200 for searches page by page, by number and along the cursor', async () => {
      const query = `container:"${CONTAINER}*"`;
      const second = await search('/tokens/search', { query, size: 3, page: 2 });
      assert.deepEqual(ids(second), idsOf(3));
      assert.deepEqual(second.pagination, { total_items: 4, page_number: 2, page_size: 3, total_pages: 2 });
      const first = await search('/v2/tokens/search', { query, size: 3 });
      const rest = await search('/v2/tokens/search', { query, size: 3, start: first.pagination.after });
      assert.deepEqual([...ids(first), ...ids(rest)], idsOf(0, 1, 2, 3));
      assert.equal(rest.pagination.after, undefined);
      assert.equal(first.pagination.after, first.pagination.next);
    });

    it('400 for a query that does not parse, with its place, and for sizes out of bounds', async () => {
      for (const path of ['/tokens/search', '/v2/tokens/search']) {
        for (const query of ['type:', 'type:card type:bank', '(type:card', 'dragon:yes', 'created_at:yesterday']) {
          assertProblem(await call('POST', path, { body: { query } }), 400, 'invalid_query');
        }
        for (const body of [{ size: 0 }, { size: 101 }, { query: 'x'.repeat(1_001) }, { query: 1 }, []]) {
          assertProblem(await call('POST', path, { body }), 400, 'validation_failed');
        }
      }
    });

    it('the log names every token of a page, listed or found', async () => {
      const { id } = await post<Token>(subject().call, vault.full, '/tokens', { data: 'logged' });
      await list(`/tokens?id=${id}`);
      await list(`/v2/tokens?id=${id}`);
      await search('/tokens/search', { query: `id:${id}` });
      await search('/v2/tokens/search', { query: `id:${id}` });
      assert.deepEqual(await logged(subject(), id), [
        'token create: Token created',
        'token read: Token listed',
        'token read: Token listed',
        'token search: Token found by search',
        'token search: Token found by search',
      ]);
    });

    it('200 for HEAD, with a trailing slash and from another origin', async () => {
      for (const path of ['/tokens', '/v2/tokens']) {
        await assertConventional(subject().call, `${path}?container=${CONTAINER}`, vault.full);
      }
      const body = { query: 'type:card' };
      assert.equal((await call('POST', '/tokens/search/', { body })).status, 200);
      assert.equal((await call('POST', '/v2/tokens/search/', { body })).status, 200);
    });
  });
}

export const tokenLists: Resource = {
  endpoints: [
    endpoint(['GET', '/tokens'], 'token:read', 200, LIST),
    endpoint(['POST', '/tokens/search'], 'token:search', 200, SENT, { query: '' }),
    endpoint(['GET', '/v2/tokens'], 'token:read', 200, LIST),
    endpoint(['POST', '/v2/tokens/search'], 'token:search', 200, SENT, { query: '' }),
  ],
  suite,
};
