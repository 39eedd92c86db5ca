import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

interface Row {
  readonly type: string;
  readonly description: string;
  readonly application_types: string[];
}

describe('GET /permissions', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const list = (query = '', key: string | undefined = tenant.key) =>
    app.call('GET', `/permissions${query}`, { ...(key !== '' && { key }) });

  it('200 with a plain list of exactly the three fields, each permission once', async () => {
    const { status, json } = await list();
    assert.equal(status, 200);
    assert.ok(Array.isArray(json));
    for (const row of json) assert.deepEqual(Object.keys(row), ['type', 'description', 'application_types']);
    const names = json.map(({ type }: Row) => type);
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^[a-z]+(:[a-z]+)?:[a-z]+$/);
  });

  for (const type of ['public', 'private', 'management']) {
    it(`200 for application_type=${type} with just the permissions it may hold, in the same order`, async () => {
      const { json: all } = await list();
      const { status, json } = await list(`?application_type=${type}`);
      assert.equal(status, 200);
      assert.deepEqual(
        json,
        all.filter((row: Row) => row.application_types.includes(type)),
      );
      assert.ok(json.length > 0 && json.length < all.length);
    });
  }

  it('200 whatever the key may do: any type, any permission', async () => {
    const { text } = await list();
    for (const [type, permission] of [
      ['public', 'token:create'],
      ['private', 'token:use'],
      ['management', 'proxy:delete'],
    ] as const) {
      const answer = await list('', await app.makeKey(tenant.id, type, [permission]));
      assert.deepEqual([answer.status, answer.text], [200, text], type);
    }
  });

  it('200 with the whole list for an empty filter, unknown parameters and a trailing slash', async () => {
    const { text } = await list();
    for (const query of ['?application_type=', '?application_type', '?type=public', '?Application_Type=public', '/']) {
      assert.equal((await list(query)).text, text, query);
    }
  });

  it('400 for a type that is none, naming the three, and for the parameter sent twice', async () => {
    for (const value of ['nonsense', 'Public', 'public,private', '%20public', '%00', 'null']) {
      const { status, json } = await list(`?application_type=${value}`);
      assert.deepEqual([status, json.code, Object.keys(json.errors)], [400, 'validation_failed', ['application_type']]);
      for (const type of ['public', 'private', 'management']) {
        assert.ok(json.errors.application_type.join().includes(type), value);
      }
    }
    const twice = await list('?application_type=public&application_type=public');
    assert.deepEqual([twice.status, Object.keys(twice.json.errors)], [400, ['application_type']]);
  });

  it('401 without a key, and the list is not shown', async () => {
    const { status, json, text } = await list('', '');
    assert.deepEqual([status, json.code], [401, 'missing_api_key']);
    assert.doesNotMatch(text, /token:create/);
  });

  it('200 for HEAD with the headers of GET and no body', async () => {
    const [got, head] = [await list(), await app.call('HEAD', '/permissions', { key: tenant.key })];
    assert.deepEqual([head.status, head.text], [200, '']);
    for (const name of ['content-type', 'content-length', 'cache-control']) {
      assert.equal(head.headers.get(name), got.headers.get(name), name);
    }
  });
});
