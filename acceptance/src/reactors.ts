import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertProblem } from './client.js';
import { RUN_ENDPOINTS, reactorRuns } from './reactor-runs.js';
import type { Resource } from './resource.js';
import { endpoint, LIST, ONE, SENT } from './resource.js';
import type { Subject } from './subject.js';
import { DATE, listed, logged, post, UNKNOWN_ID, UUID } from './vault.js';

interface Reactor {
  readonly id: string;
  readonly tenant_id: string;
  readonly name: string;
  readonly code: string;
  readonly configuration: Readonly<Record<string, string>>;
  readonly created_by: string;
  readonly created_at: string;
  readonly modified_by?: string;
  readonly modified_at?: string;
  readonly callback_secret?: string;
}

const CODE = 'module.exports = () => ({ raw: 1 })';
const MADE = { name: 'Made', code: CODE };

function suite(subject: () => Subject): void {
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: subject().keys.management, ...sent });
  const make = (body: object = {}): Promise<Reactor> =>
    post(subject().call, subject().keys.management, '/reactors', { ...MADE, ...body });
  const get = async (id: string): Promise<Reactor> => (await call('GET', `/reactors/${id}`)).as();

  describe('reactors', () => {
    it('201 with exactly the fields and the secret, which no other answer shows', async () => {
      const answer = await call('POST', '/reactors', { body: { ...MADE, configuration: { A: 'a' } } });
      assert.equal(answer.status, 201, answer.text);
      const { id, tenant_id, created_by, created_at, callback_secret, ...rest } = answer.as<Reactor>();
      assert.equal(answer.headers.get('location'), `/reactors/${id}`);
      for (const each of [id, tenant_id, created_by]) assert.match(each, UUID);
      assert.match(created_at, DATE);
      assert.ok((callback_secret?.length ?? 0) > 30);
      assert.deepEqual(rest, { ...MADE, configuration: { A: 'a' }, state: 'active' });
      assert.deepEqual(await get(id), { id, tenant_id, created_by, created_at, ...rest });
      const renewed = await call('POST', `/reactors/${id}/callback-secret`);
      assert.equal(renewed.status, 200);
      assert.notEqual(renewed.as<Reactor>().callback_secret, callback_secret);
    });

    it('400 for each faulty field', async () => {
      for (const [field, body] of [
        ['name', { ...MADE, name: ' ' }],
        ['code', { ...MADE, code: 'x'.repeat(50_001) }],
        ['configuration.A', { ...MADE, configuration: { A: 1 } }],
        ['application.id', { ...MADE, application: { id: UNKNOWN_ID } }],
      ] as const) {
        const { errors } = assertProblem(await call('POST', '/reactors', { body }), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [field]);
      }
    });

    it('200 for the list: newest first, by id and by name', async () => {
      const made = [await make({ name: 'Find me 1' }), await make({ name: 'Find me 2' })];
      const ids = made.map(({ id }) => id).sort();
      const found = listed<Reactor>(await call('GET', '/reactors?name=Find*'));
      assert.deepEqual(found.data.map(({ id }) => id).sort(), ids);
      assert.deepEqual(listed<Reactor>(await call('GET', `/reactors?id=${ids[0]}`)).data, [await get(ids[0] ?? '')]);
      assertProblem(await call('GET', '/reactors?size=0'), 400, 'validation_failed');
    });

    it('200 and 204 for changes, each with the version before; 200 for going back; 204 for the end', async () => {
      const { id } = await make({ configuration: { A: 'a' } });
      const put = await call('PUT', `/reactors/${id}`, { body: { name: 'Put', code: 'two' } });
      assert.deepEqual([put.status, put.as<Reactor>().configuration], [200, {}]);
      const patched = await call('PATCH', `/reactors/${id}`, { body: { configuration: { B: 'b' } } });
      assert.deepEqual([patched.status, patched.text], [204, '']);
      const versions = (await call('GET', `/reactors/${id}/versions`)).as<{ version: number; code: string }[]>();
      assert.deepEqual(
        versions.map(({ version, code }) => `${version} ${code}`),
        ['2 two', `1 ${CODE}`],
      );
      const restored = await call('POST', `/reactors/${id}/versions/1/restore`);
      assert.deepEqual([restored.status, restored.as<Reactor>().configuration], [200, { A: 'a' }]);
      assert.equal((await call('DELETE', `/reactors/${id}`)).status, 204);
      assertProblem(await call('GET', `/reactors/${id}`), 404, 'not_found');
      assert.deepEqual(await logged(subject(), id), [
        'reactor create: Reactor created',
        'reactor update: Reactor updated',
        'reactor update: Reactor updated',
        'reactor update: Reactor restored',
        'reactor delete: Reactor deleted',
      ]);
    });
  });
}

const ONE_SENT = [...SENT, 404];

export const reactors: Resource = {
  endpoints: [
    endpoint(['GET', '/reactors'], 'reactor:read', 200, LIST),
    endpoint(['POST', '/reactors'], 'reactor:create', 201, SENT, MADE),
    endpoint(['GET', '/reactors/{id}'], 'reactor:read', 200, ONE),
    endpoint(['PUT', '/reactors/{id}'], 'reactor:update', 200, ONE_SENT, MADE),
    endpoint(['PATCH', '/reactors/{id}'], 'reactor:update', 204, ONE_SENT, {}),
    endpoint(['DELETE', '/reactors/{id}'], 'reactor:delete', 204, ONE),
    endpoint(['POST', '/reactors/{id}/callback-secret'], 'reactor:update', 200, ONE),
    endpoint(['GET', '/reactors/{id}/versions'], 'reactor:read', 200, ONE),
    endpoint(['POST', '/reactors/{id}/versions/{version}/restore'], 'reactor:update', 200, ONE),
    endpoint(['GET', '/reactors/{id}/metrics'], 'reactor:read', 200, ONE),
    ...RUN_ENDPOINTS,
  ],
  suite(subject) {
    suite(subject);
    reactorRuns(subject);
  },
  make: async ({ call, keys }) => (await post<Reactor>(call, keys.management, '/reactors', MADE)).id,
};
