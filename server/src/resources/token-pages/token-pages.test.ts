import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { MEMBER_ROLES } from '../../access/roles.js';
import { newId } from '../../kernel/ids.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from '../portal/portal-fixture.js';
import { makePerson, openBrowser } from '../portal/portal-fixture.js';

const NUMBER = '4242424242424242';
const SECRET = 'canary-of-the-data';
const LAST = 'canary-of-the-last-digits';
const SHOWN = ['id', 'tenant_id', 'type', 'containers', 'metadata', 'created_by', 'created_at'];

describe('tokens on the pages of the Portal', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  let person: Person;
  let cardId: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', [
      ...['token:create', 'token:update', 'token:delete', 'token:read', 'token:search'],
    ]);
    person = await makePerson(app, tenant.id, 'READ_ONLY');
    cardId = await make({ type: 'card', data: { number: NUMBER, cvc: '123' }, metadata: { customer: 'c-17' } });
  });
  after(() => app.close());

  async function make(body: object, by = key): Promise<string> {
    const { status, json, text } = await app.call('POST', '/tokens', { key: by, body });
    assert.equal(status, 201, text);
    return json.id;
  }

  const pathOf = (id: string, of = tenant.id) => `/portal/api/tenants/${of}/tokens/${encodeURIComponent(id)}`;
  const look = (id: string, by = person) => by.browser.call('GET', pathOf(id));
  const search = (body: unknown, by = person, of = tenant.id) =>
    by.browser.call('POST', `/portal/api/tenants/${of}/tokens/search`, body);

  async function entriesOf(id: string, by = person.userId) {
    const path = `/logs?entity_id=${encodeURIComponent(id)}&actor_id=${by}&include=details`;
    return (await app.call('GET', path, { key: tenant.key })).json.data;
  }

  for (const role of MEMBER_ROLES) {
    it(`200 for ${role}: what stands beside the data, and nothing else`, async () => {
      const { status, json } = await look(cardId, await makePerson(app, tenant.id, role));
      assert.equal(status, 200);
      assert.deepEqual(Object.keys(json).sort(), [...SHOWN].sort());
      assert.equal(json.type, 'card');
      assert.deepEqual([json.containers, json.metadata], [['/pci/high/'], { customer: 'c-17' }]);
    });
  }

  it('never shows data, mask, fingerprint, expressions, indexes or notes on encryption, of one or of a page', async () => {
    const id = await make({
      data: { name: SECRET, last: LAST },
      mask: { hint: `${SECRET}-in-the-mask` },
      search_indexes: ['{{ data.last }}'],
      fingerprint_expression: '{{ data.name }}',
      encryption: { note: `${SECRET}-in-the-note` },
      expires_at: '2090-01-01',
    });
    await app.call('PATCH', `/tokens/${id}`, { key, body: { metadata: { a: 'b' } } });
    for (const { status, text, json } of [await look(id), await search({ query: `id:${id}` })]) {
      assert.equal(status, 200);
      assert.equal(text.includes(LAST) || text.includes(SECRET) || text.includes('{{'), false, text);
      const body = json.data?.[0] ?? json;
      assert.deepEqual(Object.keys(body).sort(), [...SHOWN, 'expires_at', 'modified_at', 'modified_by'].sort());
      assert.equal(body.expires_at, '2090-01-01T00:00:00.000+00:00');
    }
  });

  it('writes an entry by the user before it answers: a retrieval, and one for each token that was found', async () => {
    const id = await make({ data: 'logged' });
    await look(id);
    const [read] = await entriesOf(id);
    assert.deepEqual(
      [read.actor_type, read.entity_type, read.operation, read.message, read.outcome],
      ['user', 'token', 'read', 'Token retrieved', 'success'],
    );
    await search({ query: `id:${id}` });
    const [found] = await entriesOf(id);
    assert.deepEqual([found.operation, found.message], ['search', 'Token found by search']);
  });

  it('404 in the same words for an unknown id, a deleted one and one of a neighbour, and the log says nothing', async () => {
    const other = await app.makeTenant();
    const theirs = await make({ data: 'theirs' }, await app.makeKey(other.id, 'private', ['token:create']));
    const deleted = await make({ data: 'gone' });
    await app.call('DELETE', `/tokens/${deleted}`, { key });
    const answers = await Promise.all([newId(), theirs, deleted, 'a b', '%'].map((id) => look(id)));
    const told = answers.map(({ status, json: { trace_id: _, ...body } }) => ({ status, body }));
    assert.deepEqual(new Set(told.map((one) => JSON.stringify(one))).size, 1);
    assert.equal(told[0]?.status, 404);
    assert.deepEqual(await entriesOf(theirs), []);
  });

  it('404 in a tenant that is not the user’s, for a token there and for one that is not, and nothing is found there', async () => {
    const other = await app.makeTenant();
    const theirs = await make({ data: 'theirs' }, await app.makeKey(other.id, 'private', ['token:create']));
    for (const id of [theirs, newId(), cardId]) {
      const { status, json } = await person.browser.call('GET', pathOf(id, other.id));
      assert.deepEqual([status, json.code], [404, 'not_found']);
    }
    assert.equal((await search({}, person, other.id)).status, 404);
    const ours = await search({ query: `id:${theirs}` });
    assert.deepEqual(ours.json.data, []);
  });

  it('401 for nobody and for an API key, 403 for a page of another origin', async () => {
    const asked = [
      ['GET', pathOf(cardId), undefined],
      ['POST', `/portal/api/tenants/${tenant.id}/tokens/search`, {}],
    ] as const;
    for (const [method, path, body] of asked) {
      assert.equal((await openBrowser(app).call(method, path, body)).status, 401);
      assert.equal((await openBrowser(app).call(method, path, body, { 'SVC-API-KEY': key })).status, 401);
      const evil = await person.browser.call(method, path, body, { Origin: 'https://evil.example' });
      assert.deepEqual([evil.status, evil.json.code], [403, 'cross_site_refused']);
    }
  });

  it('finds by id, type, container with what is below it, metadata, and combinations', async () => {
    const at = await make({ data: 'x', containers: ['/deep/er/'], metadata: { Colour: 'Blue one' } });
    const idsFor = async (query: string): Promise<string[]> => {
      const { status, json, text } = await search({ query });
      assert.equal(status, 200, text);
      return json.data.map(({ id }: { id: string }) => id);
    };
    assert.deepEqual(await idsFor(`id:${cardId}`), [cardId]);
    assert.deepEqual(await idsFor('container:/deep/'), [at]);
    assert.deepEqual(await idsFor('metadata.Colour:"blue ONE"'), [at]);
    assert.deepEqual(await idsFor('type:card AND metadata.customer:c-17'), [cardId]);
    assert.deepEqual(await idsFor('type:token AND NOT (container:/deep/ OR container:/general/)'), []);
    assert.ok((await idsFor('')).includes(at));
  });

  it('400 for data, fingerprint and whatever else is not shown, however it is put, and nothing is looked at', async () => {
    const before = await entriesOf(cardId);
    const queries = [
      ...[`data:${NUMBER}`, `data:"${NUMBER}"`, `NOT data:${NUMBER}`, `!data:x`, `-data:x`, `(data:x)`],
      ...[`type:card OR data:x`, `type:card AND NOT (id:a OR (type:b AND fingerprint:x))`, 'fingerprint:x'],
      ...['fingerprint:"x"', `id:${cardId} AND NOT fingerprint:x`, 'created_by:x', 'modified_by:x'],
      ...['created_at:2024-01-01', 'modified_at:[2024-01-01 TO *]'],
      // What the language does not know as a field at all.
      ...['Data:x', 'd\\ata:x', '"data":x', 'data :x', 'metadata:x', 'search_indexes:x', 'mask:x'],
    ];
    for (const query of queries) {
      const { status, json } = await search({ query });
      assert.deepEqual([status, json.code], [400, 'invalid_query'], query);
      assert.match(json.errors.query[0], /^character \d+: /, query);
    }
    const { json } = await search({ query: 'type:card AND data:4242' });
    assert.deepEqual(json.errors, {
      query: ['character 15: data is not searched here. Use id, type, container or metadata.<key>.'],
    });
    assert.deepEqual(await entriesOf(cardId), before);
  });

  it('a value that is called data in metadata, or in quotation marks, is a value', async () => {
    const id = await make({ data: 'x', metadata: { data: 'data:1' } });
    const { json } = await search({ query: 'metadata.data:"data:1"' });
    assert.deepEqual(
      json.data.map((token: { id: string }) => token.id),
      [id],
    );
  });

  it('pages by cursor: each token once, newest first, whatever is made meanwhile', async () => {
    const mine: string[] = [];
    for (let n = 0; n < 5; n += 1) mine.push(await make({ data: `${n}`, metadata: { set: 'paged' } }));
    const query = 'metadata.set:paged';
    const seen: string[] = [];
    let start: string | undefined;
    do {
      const { json } = await search({ query, size: 2, ...(start && { start }) });
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      if (seen.length === 2) await make({ data: 'late', metadata: { set: 'paged' } });
      start = json.pagination.next;
    } while (start);
    assert.deepEqual(seen, mine.reverse());
  });

  it('400 for a cursor of another query, of the API or of another tenant, and for a bad size', async () => {
    const api = await app.call('POST', '/v2/tokens/search', { key, body: { query: '', size: 1 } });
    const own = await search({ size: 1 });
    for (const body of [
      { start: api.json.pagination.next },
      { query: 'type:card', start: own.json.pagination.next },
      { start: 'x' },
    ]) {
      const { status, json } = await search(body);
      assert.deepEqual([status, json.code], [400, 'invalid_cursor'], JSON.stringify(body));
    }
    const other = await app.makeTenant();
    const stranger = await makePerson(app, other.id, 'OWNER');
    assert.equal((await search({ start: own.json.pagination.next }, stranger, other.id)).json.code, 'invalid_cursor');
    assert.deepEqual((await search({ size: 101 })).json.errors, { size: ['must be at most 100'] });
  });

  it('tells of large tokens too, in their place', async () => {
    const ids = [
      await make({ data: 'small', metadata: { set: 'large' } }),
      await make({ data: SECRET.repeat(40_000), metadata: { set: 'large' } }),
      await make({ data: 'small again', metadata: { set: 'large' } }),
    ];
    const { status, json, text } = await search({ query: 'metadata.set:large' });
    assert.equal(status, 200);
    assert.deepEqual(
      json.data.map(({ id }: { id: string }) => id),
      ids.reverse(),
    );
    assert.equal(text.includes(SECRET), false);
    assert.deepEqual((await look(ids[1] ?? '')).json.metadata, { set: 'large' });
  });

  it('leaves out what has expired', async () => {
    const id = await make({ data: 'brief', expires_at: '2090-01-01' });
    await app.db.owner.query(`UPDATE tokens SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
    assert.equal((await look(id)).status, 404);
    assert.deepEqual((await search({ query: `id:${id}` })).json.data, []);
  });

  it('503 for a row that was changed in the database, and nothing of it is told', async () => {
    const id = await make({ data: 'sound', metadata: { a: 'b' } });
    await app.db.owner.query(
      `UPDATE tokens SET sealed = set_byte(sealed, 60, get_byte(sealed, 60) # 1) WHERE id = $1`,
      [id],
    );
    assert.equal((await look(id)).status, 503);
    await app.db.owner.query('DELETE FROM tokens WHERE id = $1', [id]);
  });
});
