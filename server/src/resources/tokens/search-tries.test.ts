import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';

const DAY_MS = 86_400_000;
const NOON_MS = Date.UTC(2030, 0, 15, 12);
const TRIES = 6;
const PERMISSIONS = ['token:create', 'token:search', 'token:read'];
const SSN = '078051120';

describe('values that are searched for without being revealed', () => {
  const clock = createFakeClock(NOON_MS);
  let app: TestApp;
  let beside: TestApp;
  let tenant: TestTenant;
  before(async () => {
    const env = { STRONGROOM_SEARCH_TRIES_PER_DAY: String(TRIES), STRONGROOM_FINGERPRINTS: 'masked' };
    app = await startTestApp({ clock, env });
    beside = await startTestApp({ clock, env, beside: { db: app.db, rootKey: rootKeyOf(app) } });
    tenant = await app.makeTenant();
    const maker = await app.makeKey(tenant.id, 'private', ['token:create']);
    const body = { type: 'social_security_number', data: SSN, search_indexes: ['{{ data }}'] };
    assert.equal((await app.call('POST', '/tokens', { key: maker, body })).status, 201);
  });
  after(async () => {
    await beside.close();
    await app.close();
  });

  const masked = () => app.makeApplication(tenant.id, 'private', PERMISSIONS);
  const revealed = () =>
    app.makeApplication(
      tenant.id,
      'private',
      [],
      [{ priority: 1, container: '/', transform: 'reveal', permissions: PERMISSIONS }],
    );
  const search = (key: string, query: string, { by = app, path = '/tokens/search', more = {} } = {}) =>
    by.call('POST', path, { key, body: { query, ...more } });
  const entriesOf = async (actor: string) =>
    (await app.call('GET', `/logs?actor_id=${actor}&operation=search&include=details&size=100`, { key: tenant.key }))
      .json.data as { message: string; entity_id: string; entity_type: string; changes?: unknown }[];
  const searchedOf = async (actor: string) =>
    (await entriesOf(actor)).filter(({ message }) => message === 'Tokens searched');
  const reports = () => app.logLines.concat(beside.logLines).filter((line) => /"event":"search_bound"/.test(line));

  it('are in the log with the number of matches, whatever the page shows', async () => {
    const { id, key } = await masked();
    const pastEnd = await search(key, `data:${SSN}`, { more: { page: 9, size: 1 } });
    assert.deepEqual([pastEnd.json.data, pastEnd.json.pagination.total_items], [[], 1]);
    assert.equal((await search(key, 'data:000000000')).json.pagination.total_items, 0);
    assert.equal((await search(key, `NOT data:${SSN}`, { path: '/v2/tokens/search' })).status, 200);
    assert.equal((await app.call('GET', '/v2/tokens?fingerprint=unknown', { key })).status, 200);
    const entries = await searchedOf(id);
    // Entries of one millisecond have no order among them.
    assert.deepEqual(entries.map(({ changes }) => JSON.stringify(changes)).sort(), [
      '[{"field":"matches","from":null,"to":0}]',
      '[{"field":"matches","from":null,"to":1}]',
      '[{"field":"matches_on_page","from":null,"to":0}]',
      '[{"field":"matches_on_page","from":null,"to":0}]',
    ]);
    for (const { entity_id, entity_type } of entries) assert.deepEqual([entity_id, entity_type], ['*', 'token']);
    assert.ok(!JSON.stringify(await entriesOf(id)).includes(SSN));
  });

  it('no such entry for a search that asks for nothing that tokens hold', async () => {
    const { id, key } = await masked();
    for (const query of ['', 'type:card', 'created_at:[* TO *]']) {
      assert.equal((await search(key, query)).status, 200);
    }
    assert.deepEqual(await searchedOf(id), []);
  });

  it('429 above the bound of a day, on every node, for its sessions too, with one line in the security log', async () => {
    const { id, key } = await masked();
    const session = (await app.call('POST', '/sessions', { key: await publicKey() })).json;
    const authorized = await app.call('POST', '/sessions/authorize', {
      key,
      body: { nonce: session.nonce, permissions: ['token:search'] },
    });
    assert.equal(authorized.status, 200, authorized.text);
    const before = reports().length;
    assert.equal((await search(key, 'data:1 OR data:2 OR NOT fingerprint:x')).status, 200);
    assert.equal((await search(key, 'data:3', { by: beside })).status, 200);
    assert.equal((await search(session.session_key, 'data:4')).status, 200);
    for (const tooMany of ['data:5 OR data:6', 'data:5 OR NOT data:6']) {
      assert.equal((await search(key, tooMany)).status, 429, 'one try is left');
    }
    assert.equal((await search(key, 'data:5', { path: '/v2/tokens/search' })).status, 200);
    for (const [by, withKey] of [
      [app, key],
      [beside, key],
      [app, session.session_key],
      [beside, session.session_key],
    ] as const) {
      const { status, json, headers } = await search(withKey, `data:${SSN}`, { by });
      assert.deepEqual([status, json.code, headers.get('retry-after')], [429, 'search_bound', String(12 * 3_600)]);
    }
    assert.equal((await search(key, 'type:card')).status, 200, 'other searches are not bounded');
    assert.equal(reports().length, before + 1);
    assert.match(reports().at(-1) ?? '', new RegExp(id));
    assert.equal((await searchedOf(id)).length, 3, 'a refused search has shown nothing');
    clock.advance(DAY_MS / 2);
    assert.equal((await search(key, 'data:1')).status, 200, 'another day');
  });

  it('searches that come at once get no more than is left', async () => {
    const { key } = await masked();
    const all = Array.from({ length: 4 * TRIES }, (_, at) => search(key, `data:${at}`, { by: at % 2 ? app : beside }));
    const statuses = (await Promise.all(all)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(TRIES).fill(200), ...Array(3 * TRIES).fill(429)]);
  });

  it('no bound for an Application that sees everything in the clear; its searches are logged all the same', async () => {
    const rule = { priority: 1, container: '/', transform: 'reveal', permissions: PERMISSIONS } as const;
    const withPlain = await app.makeApplication(tenant.id, 'private', PERMISSIONS, [rule]);
    for (const { id, key } of [await revealed(), withPlain]) {
      for (let at = 0; at <= TRIES; at += 1) assert.equal((await search(key, `data:${at}`)).status, 200);
      assert.equal((await searchedOf(id)).length, TRIES + 1);
    }
  });

  it('429 also where a rule reveals all but what an earlier one masks', async () => {
    const rules = [
      { priority: 1, container: '/pii/', transform: 'mask', permissions: PERMISSIONS },
      { priority: 2, container: '/', transform: 'reveal', permissions: PERMISSIONS },
    ] as const;
    const { key } = await app.makeApplication(tenant.id, 'private', [], rules);
    for (let at = 0; at < TRIES; at += 1) assert.equal((await search(key, `data:${at}`)).status, 200);
    assert.equal((await search(key, 'data:0')).status, 429);
  });

  it('another Application has a bound of its own', async () => {
    const { key } = await masked();
    assert.equal((await search(key, 'data:1')).status, 200);
  });

  async function publicKey(): Promise<string> {
    return app.makeKey(tenant.id, 'public', ['token:create']);
  }
});

describe('STRONGROOM_SEARCH_TRIES_PER_DAY', () => {
  it('0 is no bound', async () => {
    const app = await startTestApp({ env: { STRONGROOM_SEARCH_TRIES_PER_DAY: '0' } });
    try {
      const { id } = await app.makeTenant();
      const key = await app.makeKey(id, 'private', ['token:search']);
      for (let at = 0; at < 5; at += 1) {
        const { status } = await app.call('POST', '/tokens/search', { key, body: { query: 'data:1 OR data:2' } });
        assert.equal(status, 200);
      }
    } finally {
      await app.close();
    }
  });
});
