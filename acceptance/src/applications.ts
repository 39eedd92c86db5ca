import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Sent } from './client.js';
import { assertConventional, assertProblem } from './client.js';
import type { Resource } from './resource.js';
import { endpoint, LIST, ONE, READ, SENT } from './resource.js';
import type { Subject } from './subject.js';
import type { Application, Vault } from './vault.js';
import { DATE, keyOf, listed, logged, openVault, UNKNOWN_ID, UUID } from './vault.js';

const KEY = /^key_(pub|pvt|mgt)_[0-9A-Za-z]{32}$/;
const RULE = {
  description: 'cards',
  priority: 1,
  container: '/pci/',
  transform: 'mask',
  permissions: ['token:create', 'token:update'],
};

function suite(subject: () => Subject): void {
  const management = () => subject().keys.management;
  const call = (method: string, path: string, sent: Sent = {}) =>
    subject().call(method, path, { key: management(), ...sent });
  const make = async (body: object = {}): Promise<Application> => {
    const answer = await call('POST', '/applications', {
      body: { name: 'Made', type: 'private', permissions: ['token:read'], ...body },
    });
    assert.equal(answer.status, 201, answer.text);
    return answer.as();
  };

  describe('applications', () => {
    let vault: Vault;
    before(async () => {
      vault = await openVault(subject());
    });

    it('201 with exactly the fields, its address and a key that works at once', async () => {
      const body = { name: 'Checkout', type: 'public', permissions: ['token:create'], rules: [RULE] };
      const answer = await call('POST', '/applications', { body });
      assert.equal(answer.status, 201);
      const { id, tenant_id, key, created_by, created_at, ...rest } = answer.as<Application>();
      assert.equal(answer.headers.get('location'), `/applications/${id}`);
      assert.match(key ?? '', KEY);
      for (const one of [id, tenant_id, created_by ?? '']) assert.match(one, UUID);
      assert.match(created_at, DATE);
      assert.deepEqual(rest, body);
      const own = await subject().call('GET', '/applications/key', { key: key ?? '' });
      const { keys = [], ...application } = own.as<Application>();
      assert.deepEqual(application, { id, tenant_id, created_by, created_at, ...body });
      assert.deepEqual(keys, [{ id: keys[0]?.id, created_by, created_at }]);
    });

    it('201 without a key where none is wanted, and with one by regenerating', async () => {
      const { id, key } = await make({ create_key: false });
      assert.equal(key, undefined);
      assert.deepEqual((await call('GET', `/applications/${id}/keys`)).as(), []);
      const { key: fresh } = (await call('POST', `/applications/${id}/regenerate`)).as<Application>();
      assert.equal((await subject().call('GET', '/applications/key', { key: fresh ?? '' })).status, 200);
    });

    const refused: Record<string, [object, string]> = {
      'without a name': [{ name: null }, 'name'],
      'with a blank name': [{ name: ' ' }, 'name'],
      'with a name of 201 characters': [{ name: 'x'.repeat(201) }, 'name'],
      'without a type': [{ type: null }, 'type'],
      'with a type that is none': [{ type: 'secret' }, 'type'],
      'with an unknown permission': [{ permissions: ['token:nonsense'] }, 'permissions'],
      'with a permission of another type': [{ permissions: ['tenant:read'] }, 'permissions'],
      'with neither permissions nor rules': [{ permissions: [] }, 'permissions'],
      'with rules for management': [
        { type: 'management', permissions: ['tenant:read'], rules: [{ ...RULE, permissions: ['token:read'] }] },
        'rules',
      ],
      'with two rules of one priority': [{ rules: [RULE, { ...RULE, container: '/pii/' }] }, 'rules[1].priority'],
      'with a rule without container': [{ rules: [{ ...RULE, container: null }] }, 'rules[0].container'],
      'with an end in the past': [{ expires_at: '2020-01-01' }, 'expires_at'],
    };
    for (const [what, [change, field]] of Object.entries(refused)) {
      it(`400 for one ${what}, naming ${field}, and none is made`, async () => {
        const before = listed(await call('GET', '/applications?size=1')).pagination.total_items;
        const body = { name: 'Refused', type: 'private', permissions: ['token:read'], ...change };
        const { errors } = assertProblem(await call('POST', '/applications', { body }), 400, 'validation_failed');
        assert.ok(Object.hasOwn(errors ?? {}, field), JSON.stringify(errors));
        const after = listed(await call('GET', '/applications?size=1')).pagination.total_items;
        assert.equal(after, before);
      });
    }

    it('200 with pages newest first, exact totals, and nothing past the end', async () => {
      const made = [await make(), await make(), await make()].map(({ id }) => id).reverse();
      const first = listed<Application>(await call('GET', '/applications?size=2'));
      assert.deepEqual(
        first.data.map(({ id }) => id),
        made.slice(0, 2),
      );
      for (const one of first.data) assert.equal(one.key, undefined, 'a key is shown once');
      const { total_items = 0, ...rest } = first.pagination;
      assert.deepEqual(rest, { page_number: 1, page_size: 2, total_pages: Math.ceil(total_items / 2) });
      const second = listed<Application>(await call('GET', '/applications?size=2&page=2'));
      assert.equal(second.data[0]?.id, made[2]);
      const past = listed<Application>(await call('GET', '/applications?page=1000'));
      assert.deepEqual([past.data, past.pagination.page_number], [[], 1000]);
    });

    it('200 narrowed by ids and types, each of which may repeat; nothing for what is not there', async () => {
      const [one, other] = [await make(), await make({ type: 'public', permissions: ['token:create'] })];
      const ids = async (query: string) =>
        listed<Application>(await call('GET', `/applications?${query}`)).data.map(({ id }) => id);
      const both = `id=${one.id}&id=${other.id}`;
      assert.deepEqual(await ids(both), [other.id, one.id]);
      assert.deepEqual(await ids(`${both}&type=public`), [other.id]);
      assert.deepEqual(await ids(`${both}&type=public&type=private`), [other.id, one.id]);
      assert.deepEqual(await ids(`id=${one.id.toUpperCase()}`), [one.id]);
      for (const query of [`id=${UNKNOWN_ID}`, 'id=x', `id=${one.id}&type=management`]) {
        assert.deepEqual(await ids(query), []);
      }
    });

    for (const query of ['size=0', 'size=101', 'page=0', 'type=dragon', 'size=1&size=2']) {
      it(`400 for ${query}`, async () => {
        assertProblem(await call('GET', `/applications?${query}`), 400, 'validation_failed');
      });
    }

    it('200 for one, and for a change that holds from the next request on', async () => {
      const made = await make();
      const key = keyOf(made);
      assert.equal((await subject().call('GET', '/tokens', { key })).status, 200);
      const { key: _, ...shown } = made;
      const { keys, ...found } = (await call('GET', `/applications/${made.id}`)).as<Application>();
      assert.deepEqual([found, keys?.length], [shown, 1]);
      const body = { name: 'Changed', permissions: ['token:create'], type: 'private' };
      const changed = await call('PUT', `/applications/${made.id}`, { body });
      assert.equal(changed.status, 200);
      const { modified_by, modified_at, ...rest } = changed.as<Application>();
      assert.match(modified_by ?? '', UUID);
      assert.match(modified_at ?? '', DATE);
      assert.deepEqual(rest, { ...shown, ...body, keys });
      assertProblem(await subject().call('GET', '/tokens', { key }), 403, 'permission_denied');
      assert.deepEqual((await call('GET', `/applications/${made.id}`)).as(), changed.as());
    });

    it('400 for a change of type and for a change to nothing, and the application stays', async () => {
      const { id } = await make();
      for (const [field, body] of [
        ['type', { name: 'n', type: 'public', permissions: ['token:create'] }],
        ['permissions', { name: 'n' }],
        ['name', { permissions: ['token:read'] }],
      ] as const) {
        const { errors } = assertProblem(await call('PUT', `/applications/${id}`, { body }), 400, 'validation_failed');
        assert.deepEqual(Object.keys(errors ?? {}), [field]);
      }
      assert.equal((await call('GET', `/applications/${id}`)).as<Application>().name, 'Made');
    });

    it('204 for deleting: 404 and 401 from then on, also for the sessions it authorized', async () => {
      const made = await make();
      const { session_key, nonce } = (await call('POST', '/sessions', { key: vault.public })).as<{
        session_key: string;
        nonce: string;
      }>();
      const body = { nonce, permissions: ['token:read'] };
      assert.equal((await call('POST', '/sessions/authorize', { key: keyOf(made), body })).status, 200);
      assert.equal((await call('GET', '/tokens', { key: session_key })).status, 200);
      const gone = await call('DELETE', `/applications/${made.id}`);
      assert.deepEqual([gone.status, gone.text], [204, '']);
      for (const key of [keyOf(made), session_key]) {
        assertProblem(await call('GET', '/permissions', { key }), 401, 'invalid_api_key');
      }
      for (const method of ['GET', 'DELETE']) {
        assertProblem(await call(method, `/applications/${made.id}`), 404, 'not_found');
      }
    });

    it('404 for an application of another tenant, whatever is done to it, and it stays as it was', async () => {
      const { id } = await make();
      const key = subject().keys.otherTenantManagement;
      const body = { name: 'Taken', permissions: ['token:create'] };
      for (const [method, path] of [
        ['GET', ''],
        ['PUT', ''],
        ['POST', '/regenerate'],
        ['POST', '/keys'],
        ['GET', '/keys'],
        ['DELETE', ''],
      ] as const) {
        const sent = { key, ...(method === 'PUT' && { body }) };
        assertProblem(await call(method, `/applications/${id}${path}`, sent), 404, 'not_found');
      }
      assert.deepEqual(listed(await call('GET', `/applications?id=${id}`, { key })).data, []);
      assert.equal((await call('GET', `/applications/${id}`)).as<Application>().modified_at, undefined);
    });

    it('the log has one entry for each act, in its words', async () => {
      const { id } = await make();
      await call('PUT', `/applications/${id}`, { body: { name: 'n', permissions: ['token:read'] } });
      await call('POST', `/applications/${id}/regenerate`);
      const { id: keyId } = (await call('POST', `/applications/${id}/keys`)).as<{ id: string }>();
      await call('DELETE', `/applications/${id}/keys/${keyId}`);
      await call('GET', `/applications/${id}`);
      await call('DELETE', `/applications/${id}`);
      assert.deepEqual(await logged(subject(), id), [
        'application create: Application created',
        'application update: Application updated',
        'application regenerate: Application key regenerated',
        'application key_create: Application key added',
        'application key_delete: Application key revoked',
        'application delete: Application deleted',
      ]);
    });

    it('200 for HEAD, with a trailing slash, in upper case and from another origin', async () => {
      const { id } = await make();
      for (const path of [
        '/applications?size=3',
        `/applications/${id}`,
        `/applications/${id}/keys`,
        '/applications/key',
      ])
        await assertConventional(subject().call, path, management());
      assert.equal((await call('GET', `/applications/${id.toUpperCase()}`)).as<Application>().id, id);
      assert.equal((await call('GET', `/applications/%${id.charCodeAt(0).toString(16)}${id.slice(1)}`)).status, 200);
    });
  });
}

const APPLICATION_SENT = { name: 'Sent', permissions: ['token:create'] };

export const applications: Resource = {
  endpoints: [
    endpoint(['GET', '/applications'], 'application:read', 200, LIST),
    endpoint(['POST', '/applications'], 'application:create', 201, SENT, { ...APPLICATION_SENT, type: 'public' }),
    endpoint(['GET', '/applications/key'], 'any application key', 200, READ),
    endpoint(['GET', '/applications/{id}'], 'application:read', 200, ONE),
    endpoint(['PUT', '/applications/{id}'], 'application:update', 200, [...SENT, 404], APPLICATION_SENT),
    endpoint(['DELETE', '/applications/{id}'], 'application:delete', 204, ONE),
    endpoint(['GET', '/application-templates'], 'any key', 200, [401]),
    endpoint(['GET', '/application-templates/{id}'], 'any key', 200, [401, 404]),
  ],
  suite,
};
