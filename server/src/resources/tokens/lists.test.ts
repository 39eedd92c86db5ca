import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { tieOf } from '../../vault/stored/names.js';
import { CARD, MASKED_CARD, openVault, pathOf, rule, type TestVault, tally, times, vaultOf } from './vault-fixture.js';

interface Listed {
  readonly id: string;
  readonly data?: unknown;
  readonly created_at: string;
}

const sortedByTie = (ids: readonly string[]) => [...ids].sort((a, b) => (tieOf(a) < tieOf(b) ? 1 : -1));

describe('GET /tokens and GET /v2/tokens', () => {
  let root: TestVault;
  let vault: TestVault;
  before(async () => {
    root = await openVault();
  });
  after(() => root.app.close());

  const fresh = async () => {
    vault = await vaultOf(root.app, root.clock);
  };
  const list = async (path: string, key = vault.key) => (await vault.send('GET', path, undefined, { key })).json;
  const idsOf = (page: { data: Listed[] }) => page.data.map(({ id }) => id);

  async function follow(
    path: string,
    size: number,
    between: () => Promise<unknown> = async () => {},
  ): Promise<string[]> {
    const ids: string[] = [];
    let start: string | undefined;
    do {
      const query = `${path.includes('?') ? '&' : '?'}size=${size}${start ? `&start=${start}` : ''}`;
      const page = await list(`${path}${query}`);
      assert.equal(page.pagination.after, page.pagination.next);
      assert.equal(page.pagination.page_size, size);
      ids.push(...idsOf(page));
      start = page.pagination.after;
      await between();
    } while (start !== undefined);
    return ids;
  }

  it('200 with the newest first, ties in one order, each page exact and the end empty', async () => {
    await fresh();
    const made: string[] = [];
    for (let batch = 0; batch < 3; batch += 1) {
      vault.clock.advance(1);
      made.push(...(await times(4, (n) => vault.make({ id: `t-${batch}-${n}`, data: n }))).map(({ id }) => id));
    }
    const all = await list('/tokens?size=100');
    assert.deepEqual(all.pagination, { total_items: 12, page_number: 1, page_size: 100, total_pages: 1 });
    assert.deepEqual([...idsOf(all)].sort(), [...made].sort());
    const times_ = all.data.map(({ created_at }: Listed) => created_at);
    assert.deepEqual(times_, [...times_].sort().reverse());
    const paged = [];
    for (let page = 1; page <= 3; page += 1) paged.push(...idsOf(await list(`/tokens/?page=${page}&size=5`)));
    assert.deepEqual(paged, idsOf(all));
    assert.deepEqual(await follow('/v2/tokens', 5), idsOf(all));
    assert.deepEqual(await follow('/v2/tokens', 6), idsOf(all), 'no empty page after a full one');
    const past = await list('/tokens?page=2147483647&size=1');
    assert.deepEqual([past.data, past.pagination.total_items, past.pagination.page_number], [[], 12, 2147483647]);
    for (const bad of ['size=0', 'size=101', 'page=0', 'page=2147483648', 'size=x', 'page=1&page=2']) {
      assert.equal((await vault.send('GET', `/tokens?${bad}`)).status, 400, bad);
    }
    assert.equal((await list('/tokens')).pagination.page_size, 20);
    assert.deepEqual((await list('/tokens?type=bank')).pagination.total_pages, 0);
  });

  it('200 with tokens of one millisecond by id where ids are UUIDs, any others at one place in every list', async () => {
    await fresh();
    const chosen = ['zebra', 'aardvark', 'Aardvark', 'aardvark-2', 'C0FFEE00-8D8F-4A53-9D6B-5B0A3C1F7A10'];
    const own = (await times(6, (n) => vault.make({ data: n }))).map(({ id }) => id);
    assert.deepEqual(idsOf(await list('/tokens')), [...own].sort().reverse());
    for (const id of chosen) await vault.make({ id, data: 'x', metadata: { of: 'mine' } });
    const all = idsOf(await list('/tokens'));
    assert.deepEqual(all, sortedByTie([...own, ...chosen]));
    assert.deepEqual(await follow('/v2/tokens', 1), all);
    const ofMine = sortedByTie(chosen);
    assert.deepEqual(idsOf(await list('/tokens?metadata.of=mine')), ofMine);
    const found = await vault.send('POST', '/tokens/search', { query: 'metadata.of:mine' });
    assert.deepEqual(idsOf(found.json), ofMine);
  });

  it('200 along cursors gives each token once, whatever is made, changed and deleted meanwhile', async () => {
    await fresh();
    const kept = (await times(25, (n) => vault.make({ data: n }))).map(({ id }) => id);
    const doomed = (await times(5, (n) => vault.make({ data: n }))).map(({ id }) => id);
    let turn = 0;
    const ids = await follow('/v2/tokens', 3, async () => {
      turn += 1;
      await vault.make({ data: `later ${turn}` });
      await vault.send('PATCH', pathOf(kept[turn] ?? kept[0] ?? ''), { containers: ['/moved/'], metadata: { a: 'b' } });
      const [id] = doomed.splice(0, 1);
      if (id) await vault.send('DELETE', pathOf(id));
    });
    assert.equal(new Set(ids).size, ids.length, 'none twice');
    assert.deepEqual(
      kept.filter((id) => !ids.includes(id)),
      [],
      'none left out',
    );
  });

  it('200 with filters in every spelling, repeated ones as any of them, different ones together', async () => {
    await fresh();
    const a = await vault.make({ id: 'aaa', data: 1, containers: ['/x/'], metadata: { 'k.1': 'Välue', k: 'V' } });
    await vault.make({ id: 'bbb', type: 'card', data: CARD, containers: ['/x/y/'], metadata: { k: 'v2' } });
    await vault.make({ id: 'c c', data: 2, containers: ['/z/', '/x/'], fingerprint_expression: '{{ data }}' });
    const { fingerprint } = (await vault.send('GET', pathOf('c c'))).json;
    const json = encodeURIComponent('{"k":"v"}');
    const cases: [string, string[], string[]][] = [
      ['id=aaa', ['aaa'], ['aaa']],
      ['id=aaa&id=c%20c&id=none', ['aaa', 'c c'], ['aaa', 'c c']],
      ['id=AAA', [], []],
      ['type=card', ['bbb'], ['bbb']],
      ['type=card&type=token', ['aaa', 'bbb', 'c c'], ['aaa', 'bbb', 'c c']],
      ['type=nothing', [], []],
      ['container=/x/', ['aaa', 'c c'], ['aaa', 'bbb', 'c c']],
      ['container=%2FX%2F', ['aaa', 'c c'], ['aaa', 'bbb', 'c c']],
      ['container=/x/y/&container=/z/', ['bbb', 'c c'], ['bbb', 'c c']],
      ['metadata.k=v', ['aaa'], ['aaa']],
      ['metadata.k=V', ['aaa'], ['aaa']],
      ['metadata[k]=v', ['aaa'], ['aaa']],
      ['metadata%5Bk%5D=v', ['aaa'], ['aaa']],
      [`metadata=${json}`, ['aaa'], ['aaa']],
      ['metadata.k.1=v%C3%84LUE', ['aaa'], ['aaa']],
      ['metadata.K=v', [], []],
      ['metadata.k=v&type=card', [], []],
      ['metadata.k=v2&container=/x/y/&type=card&id=bbb', ['bbb'], ['bbb']],
      ['metadata.k=v&metadata.k=v2', [], []],
      ['id=&type=&unknown=1', ['aaa', 'bbb', 'c c'], ['aaa', 'bbb', 'c c']],
      [`fingerprint=${fingerprint}`, ['aaa', 'bbb', 'c c'], ['c c']],
      ['fingerprint=nonsense', ['aaa', 'bbb', 'c c'], []],
    ];
    for (const [query, first, second] of cases) {
      const page = await list(`/tokens?${query}`);
      assert.deepEqual(idsOf(page).sort(), first, query);
      assert.equal(page.pagination.total_items, first.length, query);
      assert.deepEqual(idsOf(await list(`/v2/tokens?${query}`)).sort(), second, `v2 ${query}`);
    }
    for (const bad of ['metadata=x', 'metadata={"k":1}', 'id=a%00', 'metadata.k=%00', 'metadata.%00=a']) {
      assert.equal((await vault.send('GET', `/tokens?${bad}`)).status, 400, bad);
    }
    assert.equal(a.id, 'aaa');
  });

  it('400 invalid_cursor for a cursor that was changed, or is of another tenant, list or filter', async () => {
    await fresh();
    await times(3, (n) => vault.make({ data: n }));
    const { after } = (await list('/v2/tokens?size=1')).pagination;
    assert.match(after, /^[A-Za-z0-9_-]{1,500}$/);
    const other = await vaultOf(root.app, root.clock);
    const refused = async (path: string, by = vault) => {
      const { status, json } = await by.send('GET', path);
      assert.deepEqual([status, json.code], [400, 'invalid_cursor'], path);
    };
    await refused(`/v2/tokens?start=${after}`, other);
    await refused(`/v2/tokens?type=token&start=${after}`);
    await refused(`/v2/tokens?start=${after.slice(0, -2)}AA`);
    await refused('/v2/tokens?start=x');
    const search = await vault.send('POST', '/v2/tokens/search', { start: after });
    assert.equal(search.json.code, 'invalid_cursor');
    assert.equal(idsOf(await list(`/v2/tokens?size=2&start=${after}`)).length, 2, 'another size is fine');
  });

  it('200 with only what the rules grant, in data and in totals, each token in its own transform', async () => {
    await fresh();
    await vault.make({ id: 'revealed', type: 'card', data: CARD, containers: ['/a/'] });
    await vault.make({ id: 'masked', type: 'card', data: CARD, containers: ['/b/'] });
    await vault.make({ id: 'redacted', type: 'card', data: CARD, containers: ['/c/', '/hidden/'] });
    await vault.make({ id: 'hidden', type: 'card', data: CARD, containers: ['/hidden/'] });
    const rules = [rule('reveal', '/a/'), rule('mask', '/b/', undefined, 2), rule('redact', '/c/', undefined, 3)];
    const key = await vault.keyWith(rules);
    const expected: Record<string, unknown> = { revealed: CARD, masked: MASKED_CARD, redacted: undefined };
    const lists: [string, string, unknown][] = [
      ['GET', '/tokens', undefined],
      ['GET', '/v2/tokens', undefined],
      ['POST', '/tokens/search', { query: 'type:card' }],
      ['POST', '/v2/tokens/search', { query: 'NOT type:bank' }],
    ];
    for (const [method, path, body] of lists) {
      const { json } = await vault.send(method, path, body, { key });
      assert.deepEqual(Object.fromEntries(json.data.map(({ id, data }: Listed) => [id, data])), expected, path);
      if (!path.includes('v2')) assert.equal(json.pagination.total_items, 3);
    }
    for (const query of ['id=hidden', 'container=/hidden/&id=hidden', 'metadata.a=b']) {
      assert.equal((await list(`/tokens?${query}`, key)).pagination.total_items, 0, query);
    }
    const blind = await vault.keyWith([rule('reveal', '/nowhere/')]);
    assert.deepEqual((await list('/tokens', blind)).pagination.total_items, 0);
  });

  it('each returned token is logged once a page as listed, as found by a search; what is not returned is not', async () => {
    await fresh();
    const made = await times(5, (n) => vault.make({ data: n }));
    await list('/tokens?size=2');
    await list('/v2/tokens?size=2');
    await vault.send('HEAD', '/tokens?size=2');
    await vault.send('POST', '/tokens/search', { size: 2 });
    await vault.send('POST', '/v2/tokens/search', { size: 2 });
    await list('/tokens?page=9');
    const entries = (await vault.logOf()).filter(({ operation }) => operation !== 'create');
    assert.deepEqual(tally(entries.map(({ message, operation }) => `${operation} ${message}`)), {
      'read Token listed': 6,
      'search Token found by search': 4,
    });
    const shown = new Set(entries.map(({ entity_id }) => entity_id));
    assert.equal(shown.size, 2);
    assert.ok(made.length > shown.size);
  });

  it('200 while tokens come and go: never a 5xx, and every total fits a moment', async () => {
    await fresh();
    await times(10, (n) => vault.make({ data: n, metadata: { a: 'b' } }));
    const statuses = await times(30, async (n) => {
      if (n % 3 === 0) return (await vault.send('POST', '/tokens', { data: n })).status;
      if (n % 3 === 1) return (await vault.send('GET', '/tokens?metadata.a=b')).status;
      const { json } = await vault.send('GET', '/tokens?size=100');
      assert.equal(json.data.length, json.pagination.total_items);
      return 200;
    });
    assert.deepEqual(tally(statuses), { 200: 20, 201: 10 });
  });
});
