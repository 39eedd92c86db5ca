import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12, 0, 0, 125);
const NOW = '2030-01-15T12:00:00.125+00:00';
const URL = 'https://a.example:8443/v1/';
const MADE = { name: 'P', destination_url: URL };
const UNKNOWN = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
const NO_SUCH = 'must be the id of a public or private Application of this Tenant';
const KEY = /^key_prx_[0-9A-Za-z]{32}$/;

describe('proxies', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  let callerId: string;
  let applicationId: string;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    callerId = (await call('GET', '/applications/key')).json.id;
    applicationId = (await app.makeApplication(tenant.id, 'private', ['token:use'])).id;
  });
  after(() => app.close());

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const create = (body: object) => call('POST', '/proxies', { body });
  const get = async (id: string) => (await call('GET', `/proxies/${id}`)).json;

  async function made(body: object = MADE): Promise<string> {
    const { status, json, text } = await create(body);
    assert.equal(status, 201, text);
    return json.id;
  }

  async function entries(id: string): Promise<string[]> {
    const found = await app.db.owner.query(
      `SELECT operation, message, actor_id FROM logs WHERE entity_type = 'proxy' AND entity_id = $1
       ORDER BY created_at, id`,
      [id],
    );
    return found.rows.map((row) => `${row.operation}: ${row.message} by ${row.actor_id === callerId ? 'caller' : '?'}`);
  }

  async function refused(body: object, errors: object): Promise<void> {
    const { status, json } = await create(body);
    assert.deepEqual([status, json.code, json.errors], [400, 'validation_failed', errors]);
  }

  describe('POST /proxies', () => {
    it('201 with exactly its fields, as it was sent; all of it sealed in the database and in no log; one entry', async () => {
      const ignored = { id: UNKNOWN, tenant_id: 'ignored', state: 'ignored', unknown: 1, key: 'ignored' };
      const configuration = { KEY_1: 'a secret setting' };
      const answer = await create({
        ...{ ...ignored, name: ' P ', destination_url: URL, configuration, require_auth: false },
        ...{ request_transform: { code: 'a secret request' }, response_transform: { code: 'a secret answer' } },
        application: { id: applicationId.toUpperCase(), name: 'ignored' },
      });
      assert.equal(answer.status, 201, answer.text);
      const { id, key, ...rest } = answer.json;
      assert.match(key, KEY);
      assert.equal(answer.headers.get('location'), `/proxies/${id}`);
      assert.deepEqual(rest, {
        ...{ tenant_id: tenant.id, name: ' P ', destination_url: URL, configuration, require_auth: false },
        ...{ request_transform: { code: 'a secret request' }, response_transform: { code: 'a secret answer' } },
        ...{ application_id: applicationId, state: 'active', created_by: callerId, created_at: NOW },
      });
      assert.deepEqual(await get(id), { id, key, ...rest });
      assert.deepEqual(await entries(id), ['create: Proxy created by caller']);
      const dump = await app.db.owner.query('SELECT p::text AS row, p.sealed FROM proxies p WHERE id = $1', [id]);
      const logs = await app.db.owner.query('SELECT l::text AS row FROM logs l WHERE entity_id = $1', [id]);
      const stored = JSON.stringify([dump.rows, logs.rows]) + dump.rows[0].sealed.toString('latin1');
      for (const secret of ['a secret setting', 'a secret request', 'a secret answer', 'a.example', key]) {
        assert.ok(!stored.includes(secret) && !app.logLines.join('').includes(secret), `${secret} is in the clear`);
      }
    });

    it('201 with the least: no transforms, no Application, calls need a key', async () => {
      for (const more of [
        {},
        { request_transform: {}, response_transform: null, configuration: {}, application: null },
        { request_transform: { code: null }, configuration: null, application_id: null, require_auth: null },
        { request_transform: { type: null }, request_reactor_id: '', response_reactor_id: null },
      ]) {
        const { status, json } = await create({ ...MADE, ...more });
        const { id: _, key: __, ...rest } = json;
        const by = { tenant_id: tenant.id, created_by: callerId, created_at: NOW };
        assert.deepEqual(
          [status, rest],
          [201, { ...MADE, configuration: {}, require_auth: true, state: 'active', ...by }],
        );
      }
    });

    it('201 at every bound, for code that does not compile, and with what other products’ clients send', async () => {
      const code = '}'.repeat(50_000);
      const url = `https://a.example/${'x'.repeat(382)}`;
      const bounds = { name: '🙂'.repeat(200), destination_url: url, request_transform: { code } };
      const { status, json } = await create({ ...bounds, response_transform: { code } });
      assert.deepEqual([status, json.destination_url, json.response_transform], [201, url, { code }]);
      const echoed = { request_reactor_id: UNKNOWN, response_reactor_id: 'anything' };
      const { request_reactor_id, response_reactor_id } = (await create({ ...MADE, ...echoed })).json;
      assert.deepEqual({ request_reactor_id, response_reactor_id }, echoed);
    });

    it('400 that names every faulty field', async () => {
      await refused({}, { name: ['is required'], destination_url: ['is required'] });
      await refused(
        { name: '', destination_url: 1, request_transform: 'x', response_transform: { code: '' }, require_auth: 0 },
        {
          name: ['must not be empty'],
          destination_url: ['must be a string'],
          request_transform: ['must be an object with code'],
          'response_transform.code': ['must not be empty'],
          require_auth: ['must be true or false'],
        },
      );
      await refused(
        { ...MADE, destination_url: `https://a.example/${'x'.repeat(383)}`, request_transform: { code: 1 } },
        {
          destination_url: ['must be at most 400 characters long'],
          'request_transform.code': ['must be a string'],
        },
      );
      await refused(
        { ...MADE, destination_url: 'https://[::1]', configuration: { A: 1 } },
        {
          destination_url: ['must name a host, not an IP address'],
          'configuration.A': ['must be a string'],
        },
      );
      await refused(
        { ...MADE, response_transform: { type: 'mask', matcher: 'regex' } },
        { 'response_transform.code': ['is required: a transform is code'] },
      );
      await refused({ ...MADE, request_reactor_id: 1 }, { request_reactor_id: ['must be a string'] });
    });

    it('400 unless the Application is a public or private one of the tenant, however it is named', async () => {
      const stranger = await app.makeApplication((await app.makeTenant()).id, 'private', ['token:read']);
      const management = await app.makeApplication(tenant.id, 'management', ['log:read']);
      for (const id of [stranger.id, management.id, UNKNOWN, 'no-id', 1]) {
        await refused({ ...MADE, application: { id } }, { 'application.id': [NO_SUCH] });
        await refused({ ...MADE, application_id: id }, { application_id: [NO_SUCH] });
      }
      const both = { application: { id: applicationId }, application_id: UNKNOWN };
      assert.equal((await create({ ...MADE, ...both })).json.application_id, applicationId);
      const { id: ofBrowsers } = await app.makeApplication(tenant.id, 'public', ['token:create']);
      assert.equal((await create({ ...MADE, application_id: ofBrowsers })).json.application_id, ofBrowsers);
    });
  });

  describe('PUT, PATCH and DELETE /proxies/{id}', () => {
    it('200 for PUT: replaces everything but the key, and what is left out is none', async () => {
      const id = await made({
        ...{ ...MADE, configuration: { A: 'a' }, application: { id: applicationId }, require_auth: false },
        ...{ request_transform: { code: 'one' }, request_reactor_id: 'r' },
      });
      const { key } = await get(id);
      clock.advance(1000);
      const body = { name: 'S', destination_url: 'https://b.example', key: 'ignored' };
      const { status, json } = await call('PUT', `/proxies/${id}`, { body });
      const { created_at: _, modified_at, ...rest } = json;
      const said = { name: 'S', destination_url: 'https://b.example', configuration: {}, require_auth: true };
      const by = { created_by: callerId, modified_by: callerId };
      assert.deepEqual([status, rest], [200, { id, tenant_id: tenant.id, key, ...said, state: 'active', ...by }]);
      assert.equal(Date.parse(modified_at), clock.nowMs());
      assert.deepEqual(await get(id), json);
      assert.deepEqual(await entries(id), ['create: Proxy created by caller', 'update: Proxy updated by caller']);
    });

    it('204 for PATCH: merges configuration, and null removes', async () => {
      const id = await made({
        ...{ ...MADE, configuration: { A: 'a', B: 'b' }, application_id: applicationId, require_auth: false },
        ...{ request_transform: { code: 'one' }, response_transform: { code: 'two' }, response_reactor_id: 'r' },
      });
      const before = await get(id);
      const patch = async (body: object) => {
        const { status, text } = await call('PATCH', `/proxies/${id}`, { body });
        assert.deepEqual([status, text], [204, '']);
        const { modified_at: _, modified_by: __, ...rest } = await get(id);
        return rest;
      };
      assert.deepEqual(await patch({ request_transform: {}, key: 'ignored' }), before);
      assert.deepEqual((await patch({ configuration: { A: null, C: 'c' } })).configuration, { B: 'b', C: 'c' });
      const { request_transform, response_transform } = await patch({
        ...{ request_transform: null, response_transform: { code: 'three' } },
      });
      assert.deepEqual([request_transform, response_transform], [undefined, { code: 'three' }]);
      assert.equal((await patch({ response_transform: { code: null } })).response_transform, undefined);
      assert.equal((await patch({ require_auth: null })).require_auth, true);
      assert.equal((await patch({ application_id: null })).application_id, undefined);
      assert.equal((await patch({ application: { id: applicationId } })).application_id, applicationId);
      assert.equal((await patch({ application: null })).application_id, undefined);
      assert.equal((await patch({ response_reactor_id: '' })).response_reactor_id, undefined);
      assert.equal((await patch({ destination_url: 'https://c.example' })).destination_url, 'https://c.example');
      assert.equal((await patch({ name: 'Renamed' })).key, before.key);
    });

    it('400 for a PATCH that removes what is needed or adds too much, and nothing changes', async () => {
      const code = 'x'.repeat(50_000);
      const settings = (from: number, to: number) =>
        Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`k${from + n}`, code]));
      const id = await made({ ...MADE, configuration: settings(0, 19) });
      const untouched = await get(id);
      for (const [body, errors] of [
        [
          { name: null, destination_url: null },
          { name: ['cannot be removed'], destination_url: ['cannot be removed'] },
        ],
        [
          { request_transform: { code }, response_transform: { code } },
          { $: ['must have at most 1 MiB of code and configuration'] },
        ],
        [{ application: { id: UNKNOWN } }, { 'application.id': [NO_SUCH] }],
        [{ application_id: UNKNOWN }, { application_id: [NO_SUCH] }],
        [{ destination_url: 'https://10.0.0.1' }, { destination_url: ['must name a host, not an IP address'] }],
      ]) {
        const { status, json } = await call('PATCH', `/proxies/${id}`, { body });
        assert.deepEqual([status, json.errors], [400, errors]);
      }
      assert.deepEqual(await get(id), untouched);
    });

    it('204 for DELETE, with its versions; then 404 everywhere', async () => {
      const id = await made();
      await call('PATCH', `/proxies/${id}`, { body: { name: 'S' } });
      clock.advance(1);
      assert.equal((await call('DELETE', `/proxies/${id}`)).status, 204);
      const rows = await app.db.owner.query('SELECT FROM proxy_versions WHERE proxy_id = $1', [id]);
      assert.equal(rows.rowCount, 0);
      assert.equal((await entries(id)).at(-1), 'delete: Proxy deleted by caller');
      for (const [method, path, body] of [
        ['GET', ''],
        ['PUT', '', MADE],
        ['PATCH', '', {}],
        ['DELETE', ''],
        ['GET', '/versions'],
        ['GET', '/metrics'],
        ['POST', '/versions/1/restore'],
        ['POST', '/regenerate'],
      ] as const) {
        const { status, json } = await call(method, `/proxies/${id}${path}`, { ...(body && { body }) });
        const detail = 'There is no such Proxy. GET /proxies lists those there are.';
        assert.deepEqual([status, json.code, json.detail], [404, 'not_found', detail], `${method} ${path}`);
      }
    });
  });

  describe('GET /proxies', () => {
    it('200 newest first, by pages, by ids and by names with wildcards', async () => {
      const other = await app.makeTenant();
      const ask = async (query: string) => {
        const { status, json, text } = await app.call('GET', `/proxies?${query}`, { key: other.key });
        assert.equal(status, 200, text);
        return json.data.map(({ name }: { name: string }) => name).join(' ');
      };
      const ids: string[] = [];
      for (const name of ['a_b', 'axb', '100%', 'a*b']) {
        clock.advance(1);
        ids.push((await app.call('POST', '/proxies', { key: other.key, body: { ...MADE, name } })).json.id);
      }
      assert.equal(await ask(''), 'a*b 100% axb a_b');
      assert.equal(await ask('page=2&size=2'), 'axb a_b');
      assert.equal(await ask(`id=${ids[0]}&id=${ids[1]?.toUpperCase()}&id=nothing`), 'axb a_b');
      assert.equal(await ask('name=a_*'), 'a_b');
      assert.equal(await ask('name=a*b'), 'a*b axb a_b');
      assert.equal((await app.call('GET', '/proxies?size=0', { key: other.key })).status, 400);
    });
  });

  describe('POST /proxies/{id}/regenerate', () => {
    it('200 with a new key; nothing else changes and no version is kept', async () => {
      const { id, key: first, ...before } = (await create({ ...MADE, request_transform: { code: 'one' } })).json;
      clock.advance(1);
      const { status, json } = await call('POST', `/proxies/${id}/regenerate`);
      const { key, modified_at: _, modified_by, ...rest } = json;
      assert.deepEqual([status, rest, modified_by], [200, { id, ...before }, callerId]);
      assert.match(key, KEY);
      assert.notEqual(key, first);
      assert.deepEqual(await get(id), json);
      assert.deepEqual((await call('GET', `/proxies/${id}/versions`)).json, []);
      assert.equal((await entries(id)).at(-1), 'update: Proxy updated by caller');
    });

    it('two at the same time: both are answered, and the last key is the one there is', async () => {
      const id = await made();
      const answers = await Promise.all([1, 2, 3].map(() => call('POST', `/proxies/${id}/regenerate`)));
      const keys = answers.map(({ json }) => json.key);
      assert.equal(new Set(keys).size, 3);
      assert.ok(keys.includes((await get(id)).key));
    });
  });

  describe('the key of a Proxy', () => {
    it('401 as an API key, on every kind of route', async () => {
      const { key } = await get(await made());
      for (const path of ['/proxies', '/permissions', '/applications/key', '/tokens']) {
        const { status, json } = await call('GET', path, { key });
        assert.deepEqual([status, json.code], [401, 'invalid_api_key'], path);
      }
      assert.ok(!app.logLines.join('').includes(key));
    });

    it('is seen by nobody without proxy:read, whatever else they may manage', async () => {
      const id = await made();
      const others = ['proxy:create', 'proxy:update', 'proxy:delete', 'reactor:read', 'application:read'];
      const key = await app.makeKey(tenant.id, 'management', others);
      for (const path of ['/proxies', `/proxies/${id}`, `/proxies/${id}/versions`, `/proxies/${id}/metrics`]) {
        const { status, text } = await call('GET', path, { key });
        assert.equal(status, 403, path);
        assert.ok(!text.includes('key_prx_'));
      }
    });
  });

  describe('an Application that is gone', () => {
    it('is not shown, may stay where a change is not about it, and cannot be named again', async () => {
      const gone = await app.makeApplication(tenant.id, 'private', ['token:use']);
      const id = await made({ ...MADE, application_id: gone.id });
      assert.equal((await call('DELETE', `/applications/${gone.id}`)).status, 204);
      assert.equal((await get(id)).application_id, undefined);
      assert.equal((await call('PATCH', `/proxies/${id}`, { body: { name: 'S' } })).status, 204);
      const body = { ...MADE, application_id: gone.id };
      assert.equal((await call('PUT', `/proxies/${id}`, { body })).status, 400);
      const restored = await call('POST', `/proxies/${id}/versions/1/restore`);
      assert.deepEqual([restored.status, restored.json.application_id], [200, undefined]);
    });
  });
});
