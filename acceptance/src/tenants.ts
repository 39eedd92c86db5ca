import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertConventional, assertNeedsKey, assertNeedsPermission, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, READ, SENT } from './resource.js';
import type { Subject } from './subject.js';

export interface Tenant {
  readonly id: string;
  readonly owner_id: string;
  readonly name: string;
  readonly settings: { readonly fingerprint_tokens: string; readonly deduplicate_tokens: string };
  readonly created_by?: string;
  readonly created_at?: string;
  readonly modified_by?: string;
  readonly modified_at?: string;
}

const PATH = '/tenants/self';
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/;
const UNTOUCHED = { fingerprint_tokens: 'false', deduplicate_tokens: 'false' };

function suite(subject: () => Subject): void {
  const keys = () => subject().keys;
  const get = async (key = keys().management): Promise<Tenant> => (await subject().call('GET', PATH, { key })).as();
  const put = (sent: Sent) => subject().call('PUT', PATH, { key: keys().management, ...sent });

  describe('GET /tenants/self', () => {
    it('200 with exactly the specified fields of the tenant that owns the key', async () => {
      const answer = await subject().call('GET', PATH, { key: keys().otherTenantManagement });
      assert.equal(answer.status, 200);
      const { id, owner_id, created_at, name, settings, ...rest } = answer.as<Tenant>();
      assert.match(id, UUID);
      assert.match(owner_id, UUID);
      assert.match(created_at ?? '', DATE);
      assert.ok(name.length > 0);
      assert.deepEqual(settings, UNTOUCHED);
      assert.deepEqual(rest, {}, 'never changed, and made by no user');
    });

    it('200 with the same tenant for each of its keys, and another for another', async () => {
      const [full, reader, stranger] = [
        await get(),
        await get(keys().readOnly),
        await get(keys().otherTenantManagement),
      ];
      assert.deepEqual(reader, full);
      assert.notEqual(stranger.id, full.id);
      const { call } = subject();
      const aimed = await call('GET', PATH, { key: keys().management, headers: { 'SVC-TENANT-ID': stranger.id } });
      assert.equal(aimed.as<Tenant>().id, full.id, 'the key alone decides');
    });

    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'GET', PATH));

    it('403 without tenant:read', () => {
      const others = [keys().unrelated, keys().public, keys().private];
      return assertNeedsPermission(subject().call, ['GET', PATH], others, 'tenant:read');
    });

    it('200 for HEAD, with a trailing slash and from another origin', () =>
      assertConventional(subject().call, PATH, keys().readOnly));
  });

  describe('PUT /tenants/self', () => {
    it('200 with the updated tenant: the name is replaced, settings keep what is not named', async () => {
      const before = await get();
      const renamed = await put({ body: { name: 'Renamed' } });
      assert.equal(renamed.status, 200);
      const { name, modified_by, modified_at, ...rest } = renamed.as<Tenant>();
      assert.equal(name, 'Renamed');
      assert.match(modified_by ?? '', UUID);
      assert.match(modified_at ?? '', DATE);
      const { name: _name, modified_by: _by, modified_at: _at, ...unchanged } = before;
      assert.deepEqual(rest, unchanged);
      const one = await put({ body: { name: 'Renamed', settings: { fingerprint_tokens: 'true' } } });
      assert.deepEqual(one.as<Tenant>().settings, { ...before.settings, fingerprint_tokens: 'true' });
      const other = await put({ body: { name: 'Renamed', settings: { deduplicate_tokens: 'true' } } });
      assert.deepEqual(other.as<Tenant>().settings, { fingerprint_tokens: 'true', deduplicate_tokens: 'true' });
      assert.deepEqual(await get(), other.as<Tenant>());
      assert.equal((await put({ body: { name: 'Main', settings: UNTOUCHED } })).status, 200);
      assert.deepEqual((await get()).settings, UNTOUCHED);
    });

    it('200 for names up to 200 characters of any script, stored as sent', async () => {
      for (const name of ['x', ' spaced ', '\u00dc\u4e2d\ud83d\ude00', 'y'.repeat(200), '\ud83d\ude00'.repeat(200)]) {
        assert.equal((await put({ body: { name } })).as<Tenant>().name, name);
        assert.equal((await get()).name, name);
      }
    });

    it('200 and fields that are unknown, null or set by the server change nothing', async () => {
      const before = await get();
      const body = {
        name: 'Kept',
        id: before.owner_id,
        owner_id: before.id,
        created_at: 'never',
        settings: null,
        x: [1],
      };
      const { id, owner_id, created_at, settings } = (await put({ body })).as<Tenant>();
      assert.deepEqual(
        [id, owner_id, created_at, settings],
        [before.id, before.owner_id, before.created_at, before.settings],
      );
    });

    const refused: Record<string, [unknown, string]> = {
      'without a name': [{}, 'name'],
      'with null as name': [{ name: null }, 'name'],
      'with a number as name': [{ name: 1 }, 'name'],
      'with an empty name': [{ name: '' }, 'name'],
      'with a blank name': [{ name: ' \t\n' }, 'name'],
      'with a name of 201 characters': [{ name: 'x'.repeat(201) }, 'name'],
      'with NUL in the name': [{ name: 'a\0b' }, 'name'],
      'with half a character in the name': [{ name: '\ud83d' }, 'name'],
      'with a setting nobody knows': [{ name: 'n', settings: { color: 'red' } }, 'settings.color'],
      'with a boolean as setting': [
        { name: 'n', settings: { fingerprint_tokens: true } },
        'settings.fingerprint_tokens',
      ],
      'with another text as setting': [
        { name: 'n', settings: { deduplicate_tokens: 'yes' } },
        'settings.deduplicate_tokens',
      ],
      'with settings that are no object': [{ name: 'n', settings: 'true' }, 'settings'],
      'with a list as body': [[], '$'],
    };
    for (const [what, [body, field]] of Object.entries(refused)) {
      it(`400 ${what}, naming ${field}, and nothing changes`, async () => {
        const before = await get();
        const { errors } = assertProblem(await put({ body }), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [field]);
        assert.deepEqual(await get(), before);
      });
    }

    it('400 for an empty body and for what is not JSON, 415 for another type', async () => {
      assertProblem(await put({ raw: '' }), 400, 'validation_failed');
      assertProblem(await put({ raw: '{"name":' }), 400, 'malformed_json');
      const headers = { 'Content-Type': 'text/plain' };
      assertProblem(await put({ raw: '{"name":"n"}', headers }), 415, 'unsupported_media_type');
    });

    it('413 for a body over 1 MiB', async () => {
      assertProblem(await put({ body: { name: 'n', x: 'x'.repeat(1_048_576) } }), 413, 'payload_too_large');
    });

    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'PUT', PATH));

    it('403 without tenant:update, and nothing changes', async () => {
      const before = await get();
      const others = [keys().readOnly, keys().unrelated, keys().public, keys().private];
      await assertNeedsPermission(subject().call, ['PUT', PATH], others, 'tenant:update');
      assert.deepEqual(await get(), before);
    });

    it('another tenant never sees the change, with a trailing slash or without', async () => {
      const stranger = await get(keys().otherTenantManagement);
      const { call } = subject();
      assert.equal((await call('PUT', `${PATH}/`, { key: keys().management, body: { name: 'Mine' } })).status, 200);
      assert.equal((await get()).name, 'Mine');
      assert.deepEqual(await get(keys().otherTenantManagement), stranger);
    });
  });

  describe('DELETE /tenants/self', () => {
    it('401 without a key or with a wrong one', () => assertNeedsKey(subject().call, 'DELETE', PATH));

    it('403 without tenant:delete, and the tenant lives', async () => {
      const others = [keys().readOnly, keys().unrelated, keys().public, keys().private];
      await assertNeedsPermission(subject().call, ['DELETE', PATH], others, 'tenant:delete');
      assert.equal((await subject().call('GET', PATH, { key: keys().management })).status, 200);
    });

    it('204 without a body; from then on 401 for each of its keys, and no other tenant notices', async () => {
      const { call } = subject();
      const gone = await call('DELETE', PATH, { key: keys().disposableManagement });
      assert.equal(gone.status, 204);
      assert.equal(gone.text, '');
      for (const key of [keys().disposableManagement, keys().disposableReadOnly]) {
        for (const path of [PATH, '/permissions', '/logs', '/logs/entity-types', `${PATH}/reports/usage`]) {
          assertProblem(await call('GET', path, { key }), 401, 'invalid_api_key');
        }
        assertProblem(await call('PUT', PATH, { key, body: { name: 'n' } }), 401, 'invalid_api_key');
        assertProblem(await call('DELETE', PATH, { key }), 401, 'invalid_api_key');
      }
      for (const key of [keys().management, keys().otherTenantManagement]) {
        assert.equal((await call('GET', PATH, { key })).status, 200);
      }
    });
  });
}

export const tenants: Resource = {
  endpoints: [
    endpoint(['GET', '/tenants/self'], 'tenant:read', 200, READ),
    endpoint(['PUT', '/tenants/self'], 'tenant:update', 200, SENT, { name: 'Main' }),
    endpoint(['DELETE', '/tenants/self'], 'tenant:delete', 204, READ),
  ],
  needsNoTokens: true,
  suite,
};
