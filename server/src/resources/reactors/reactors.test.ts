import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12, 0, 0, 125);
const NOW = '2030-01-15T12:00:00.125+00:00';
const CODE = 'module.exports = () => ({ raw: "said by the code" })';
const MADE = { name: 'R', code: CODE };
const UNKNOWN = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';
const NOT_A_NAME = 'must not be blank and must not hold NUL or unpaired surrogates';
const NO_SUCH = 'must be the id of a public or private Application of this Tenant';

describe('reactors', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  let callerId: string;
  let application: { readonly id: string; readonly name: string; readonly type: string };
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    callerId = (await call('GET', '/applications/key')).json.id;
    application = await makeApplication('private');
  });
  after(() => app.close());

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const create = (body: object) => call('POST', '/reactors', { body });
  const get = async (id: string) => (await call('GET', `/reactors/${id}`)).json;

  async function made(body: object = MADE): Promise<string> {
    const { status, json, text } = await create(body);
    assert.equal(status, 201, text);
    return json.id;
  }

  async function makeApplication(type: string) {
    const permissions = [type === 'management' ? 'log:read' : 'token:create'];
    const { json } = await call('POST', '/applications', { body: { name: `Of ${type}`, type, permissions } });
    return { id: json.id, name: json.name, type: json.type };
  }

  async function entries(id: string): Promise<string[]> {
    const found = await app.db.owner.query(
      `SELECT operation, message, actor_id FROM logs WHERE entity_type = 'reactor' AND entity_id = $1
       ORDER BY created_at, id`,
      [id],
    );
    return found.rows.map((row) => `${row.operation}: ${row.message} by ${row.actor_id === callerId ? 'caller' : '?'}`);
  }

  async function refused(body: object, errors: object): Promise<void> {
    const { status, json } = await create(body);
    assert.deepEqual([status, json.code, json.errors], [400, 'validation_failed', errors]);
  }

  describe('POST /reactors', () => {
    it('201 with exactly its fields and its callback secret, sealed in the database; one entry', async () => {
      const configuration = { KEY_1: 'a secret setting', 'k-2': ' ' };
      const given = { id: UNKNOWN, tenant_id: 'ignored', state: 'ignored', unknown: 1, callback_secret: 'ignored' };
      const named = { id: application.id.toUpperCase(), name: 'ignored', rules: 1 };
      const answer = await create({ ...given, name: ' R ', code: CODE, configuration, application: named });
      assert.equal(answer.status, 201, answer.text);
      const { id, callback_secret, ...rest } = answer.json;
      assert.match(callback_secret, /^rcs_[a-z0-9]{40}$/);
      assert.equal(answer.headers.get('location'), `/reactors/${id}`);
      assert.deepEqual(rest, {
        tenant_id: tenant.id,
        name: ' R ',
        code: CODE,
        configuration,
        application,
        state: 'active',
        created_by: callerId,
        created_at: NOW,
      });
      assert.deepEqual(await get(id), { id, ...rest });
      assert.deepEqual(await entries(id), ['create: Reactor created by caller']);
      const dump = await app.db.owner.query('SELECT r::text AS row, r.sealed FROM reactors r WHERE id = $1', [id]);
      const stored = JSON.stringify(dump.rows) + dump.rows[0].sealed.toString('latin1') + app.logLines.join('');
      for (const secret of ['said by the code', 'a secret setting', callback_secret]) {
        assert.ok(!stored.includes(secret), 'nothing of it is stored in the clear');
      }
    });

    it('201 without configuration, with an empty one and with nulls: none', async () => {
      for (const more of [{}, { configuration: {} }, { configuration: null, application: null }]) {
        const { configuration, application: named } = (await create({ ...MADE, ...more })).json;
        assert.deepEqual([configuration, named], [{}, undefined]);
      }
      const { configuration } = (await create({ ...MADE, configuration: { A: null, B: 'b' } })).json;
      assert.deepEqual(configuration, { B: 'b' });
    });

    it('201 at every bound, and for code that does not compile', async () => {
      const configuration = Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`k${n}`.padEnd(200, '_'), 'v']));
      const { status, json } = await create({ name: '🙂'.repeat(200), code: '}'.repeat(50_000), configuration });
      assert.deepEqual([status, json.configuration], [201, configuration]);
      assert.equal((await create({ ...MADE, configuration: { A: 'x'.repeat(50_000) } })).status, 201);
      const odd = JSON.parse('{"__proto__":"p","constructor":"c"}');
      assert.deepEqual((await create({ ...MADE, configuration: odd })).json.configuration, odd);
    });

    it('400 that names every faulty field', async () => {
      await refused({}, { name: ['is required'], code: ['is required'] });
      await refused({ name: null, code: 1 }, { name: ['is required'], code: ['must be a string'] });
      await refused({ name: ' \u200b', code: '' }, { name: [NOT_A_NAME], code: ['must not be empty'] });
      await refused(
        { name: 'x'.repeat(201), code: 'x'.repeat(50_001) },
        { name: ['must be at most 200 characters long'], code: ['must be at most 50000 characters long'] },
      );
      await refused({ ...MADE, name: 'a\u0000' }, { name: [NOT_A_NAME] });
      await refused({ ...MADE, configuration: [] }, { configuration: ['must be an object'] });
      await refused(
        { ...MADE, configuration: { A: 1, B: '', C: 'x'.repeat(50_001) } },
        {
          'configuration.A': ['must be a string'],
          'configuration.B': ['must not be empty'],
          'configuration.C': ['must be at most 50000 characters long'],
        },
      );
      const keys = 'must have keys of 1 to 200 letters, digits, underscores and hyphens';
      for (const key of ['', 'a b', 'ä', 'x'.repeat(201)]) {
        await refused({ ...MADE, configuration: { [key]: 'v' } }, { configuration: [keys] });
      }
      await refused({ ...MADE, configuration: { A: { toString: 0 } } }, { 'configuration.A': ['must be a string'] });
      const many = Object.fromEntries(Array.from({ length: 26 }, (_, n) => [`k${n}`, 'v']));
      await refused({ ...MADE, configuration: many }, { configuration: ['must have at most 25 entries'] });
      assert.equal((await call('POST', '/reactors', { body: [] })).status, 400);
    });

    it('400 unless the Application is a public or private one of the tenant', async () => {
      const stranger = await app.makeApplication((await app.makeTenant()).id, 'private', ['token:read']);
      const management = await makeApplication('management');
      for (const id of [stranger.id, management.id, UNKNOWN, 'no-id', 1]) {
        await refused({ ...MADE, application: { id } }, { 'application.id': [NO_SUCH] });
      }
      await refused({ ...MADE, application: {} }, { 'application.id': ['is required'] });
      await refused({ ...MADE, application: application.id }, { application: ['must be an object with an id'] });
      assert.equal((await create({ ...MADE, application: await makeApplication('public') })).status, 201);
    });
  });

  describe('GET /reactors', () => {
    it('200 newest first, by pages, by ids and by names with wildcards', async () => {
      const other = await app.makeTenant();
      const ask = async (query: string) => {
        const { status, json, text } = await app.call('GET', `/reactors?${query}`, { key: other.key });
        assert.equal(status, 200, text);
        assert.equal(json.pagination.total_items >= json.data.length, true);
        return json.data.map(({ name }: { name: string }) => name).join(' ');
      };
      const ids: string[] = [];
      for (const name of ['a_b', 'axb', '100%', 'back\\slash', 'a*b']) {
        clock.advance(1);
        ids.push((await app.call('POST', '/reactors', { key: other.key, body: { name, code: CODE } })).json.id);
      }
      assert.equal(await ask(''), 'a*b back\\slash 100% axb a_b');
      assert.equal(await ask('page=2&size=2'), '100% axb');
      assert.equal(await ask('page=9'), '');
      assert.equal(await ask(`id=${ids[0]}&id=${ids[1]?.toUpperCase()}&id=nothing`), 'axb a_b');
      assert.equal(await ask('id=nothing'), '');
      assert.equal(await ask('name=a_b'), 'a_b');
      assert.equal(await ask('name=a_*'), 'a_b');
      assert.equal(await ask('name=a*b'), 'a*b axb a_b');
      assert.equal(await ask('name=*%25'), '100%');
      assert.equal(await ask('name=**k%5C*'), 'back\\slash');
      assert.equal(await ask('name=A*'), '');
      assert.equal(await ask(`name=a*&id=${ids[1]}`), 'axb');
      const { json } = await app.call('GET', '/reactors?size=2&name=a*', { key: other.key });
      assert.deepEqual(json.pagination, { total_items: 3, page_number: 1, page_size: 2, total_pages: 2 });
      assert.equal((await app.call('GET', '/reactors?size=0', { key: other.key })).status, 400);
    });
  });

  describe('PUT, PATCH and DELETE /reactors/{id}', () => {
    it('200 for PUT: replaces everything, and what is left out is none', async () => {
      const id = await made({ ...MADE, configuration: { A: 'a' }, application: { id: application.id } });
      clock.advance(1000);
      const { status, json } = await call('PUT', `/reactors/${id}`, { body: { name: 'S', code: 'other' } });
      const { created_at: _, modified_at, ...rest } = json;
      const expected = { id, tenant_id: tenant.id, name: 'S', code: 'other', configuration: {}, state: 'active' };
      assert.deepEqual([status, rest], [200, { ...expected, created_by: callerId, modified_by: callerId }]);
      assert.equal(Date.parse(modified_at), clock.nowMs());
      assert.deepEqual(await get(id), json);
      assert.deepEqual(await entries(id), ['create: Reactor created by caller', 'update: Reactor updated by caller']);
    });

    it('204 for PATCH: merges configuration, and null removes', async () => {
      const id = await made({ ...MADE, configuration: { A: 'a', B: 'b' }, application: { id: application.id } });
      const patch = async (body: object) => {
        const { status, text } = await call('PATCH', `/reactors/${id}`, { body });
        assert.deepEqual([status, text], [204, '']);
        return get(id);
      };
      const merged = await patch({ configuration: { A: null, C: 'c' } });
      assert.deepEqual([merged.configuration, merged.application], [{ B: 'b', C: 'c' }, application]);
      assert.equal((await patch({ code: 'changed' })).code, 'changed');
      assert.equal((await patch({ application: null })).application, undefined);
      assert.deepEqual((await patch({ configuration: null })).configuration, {});
      assert.equal((await patch({ name: 'Renamed' })).name, 'Renamed');
    });

    it('400 for a PATCH that removes what is needed or adds too much, and nothing changes', async () => {
      const entriesOf = (from: number, to: number) =>
        Object.fromEntries(Array.from({ length: to - from }, (_, n) => [`k${from + n}`, 'x'.repeat(50_000)]));
      const id = await made({ ...MADE, configuration: entriesOf(0, 20) });
      const untouched = await get(id);
      for (const [body, errors] of [
        [
          { name: null, code: null },
          { name: ['cannot be removed'], code: ['cannot be removed'] },
        ],
        [{ configuration: { a: 'a', ...entriesOf(20, 25) } }, { configuration: ['must have at most 25 entries'] }],
        [{ configuration: entriesOf(20, 22) }, { $: ['must have at most 1 MiB of code and configuration'] }],
        [{ application: { id: UNKNOWN } }, { 'application.id': [NO_SUCH] }],
      ]) {
        const { status, json } = await call('PATCH', `/reactors/${id}`, { body });
        assert.deepEqual([status, json.errors], [400, errors]);
      }
      assert.deepEqual(await get(id), untouched);
    });

    it('204 for DELETE, with its versions; then 404 everywhere', async () => {
      const id = await made();
      await call('PATCH', `/reactors/${id}`, { body: { name: 'S' } });
      clock.advance(1);
      assert.equal((await call('DELETE', `/reactors/${id}`)).status, 204);
      const rows = await app.db.owner.query('SELECT FROM reactor_versions WHERE reactor_id = $1', [id]);
      assert.equal(rows.rowCount, 0);
      assert.equal((await entries(id)).at(-1), 'delete: Reactor deleted by caller');
      for (const [method, path, body] of [
        ['GET', ''],
        ['PUT', '', MADE],
        ['PATCH', '', {}],
        ['DELETE', ''],
        ['GET', '/versions'],
        ['POST', '/versions/1/restore'],
        ['POST', '/callback-secret'],
      ] as const) {
        const answer = await call(method, `/reactors/${id}${path}`, { ...(body && { body }) });
        assert.deepEqual([answer.status, answer.json.code], [404, 'not_found'], `${method} ${path}`);
      }
    });

    it('changes at the same time come one after the other, and none is lost', async () => {
      const id = await made();
      const keys = Array.from({ length: 12 }, (_, n) => `k${n}`);
      const answers = await Promise.all(
        keys.map((key) => call('PATCH', `/reactors/${id}`, { body: { configuration: { [key]: 'v' } } })),
      );
      assert.ok(answers.every(({ status }) => status === 204));
      assert.deepEqual(Object.keys((await get(id)).configuration).sort(), keys.sort());
      assert.equal((await call('GET', `/reactors/${id}/versions`)).json.length, keys.length);
    });
  });

  describe('an Application that is gone', () => {
    it('is not shown, may stay where a change is not about it, and cannot be named again', async () => {
      const gone = await makeApplication('private');
      const id = await made({ ...MADE, application: gone });
      assert.equal((await call('DELETE', `/applications/${gone.id}`)).status, 204);
      assert.equal((await get(id)).application, undefined);
      const listed = await call('GET', `/reactors?id=${id}`);
      assert.deepEqual([listed.status, listed.json.data[0].application], [200, undefined]);
      assert.equal((await call('PATCH', `/reactors/${id}`, { body: { name: 'S' } })).status, 204);
      assert.equal((await call('PUT', `/reactors/${id}`, { body: { ...MADE, application: gone } })).status, 400);
      const restored = await call('POST', `/reactors/${id}/versions/1/restore`);
      assert.deepEqual([restored.status, restored.json.application], [200, undefined]);
    });
  });

  describe('POST /reactors/{id}/callback-secret', () => {
    it('200 with a new secret, shown here alone; nothing else changes and no version is kept', async () => {
      const { id, callback_secret: first } = (await create(MADE)).json;
      clock.advance(1);
      const { status, json } = await call('POST', `/reactors/${id}/callback-secret`);
      const { callback_secret, ...rest } = json;
      assert.deepEqual([status, rest], [200, await get(id)]);
      assert.match(callback_secret, /^rcs_[a-z0-9]{40}$/);
      assert.notEqual(callback_secret, first);
      assert.deepEqual((await call('GET', `/reactors/${id}/versions`)).json, []);
      assert.equal((await entries(id)).at(-1), 'update: Reactor updated by caller');
    });
  });
});
