import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isWellFormedApiKey } from '../../access/api-key.js';
import { PERMISSIONS } from '../../access/permissions.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12, 0, 0, 125);
const NOW = '2030-01-15T12:00:00.125+00:00';
const TYPES = ['public', 'private', 'management'] as const;
const RULE = { priority: 1, container: '/pci/', permissions: ['token:create'] };

describe('applications', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  let callerId: string;
  before(async () => {
    app = await startTestApp({ clock });
    tenant = await app.makeTenant();
    callerId = (await call('GET', '/applications/key')).json.id;
  });
  after(() => app.close());

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const create = (body: object) => call('POST', '/applications', { body });

  async function entries(id: string): Promise<string[][]> {
    const found = await app.db.owner.query(
      `SELECT operation, message, actor_type, actor_id FROM logs WHERE entity_type = 'application' AND entity_id = $1
       ORDER BY created_at, id`,
      [id],
    );
    return found.rows.map((row) => [row.operation, row.message, row.actor_type, row.actor_id]);
  }

  describe('POST /applications', () => {
    it('201 with exactly its fields and a key that works; stored only as a hash; one entry', async () => {
      const { status, json, text } = await create({
        name: ' Shop ',
        type: 'public',
        permissions: ['token:update', 'token:create', 'token:create'],
        rules: [{ ...RULE, container: '/PCI/', description: 'Cards' }],
        expires_at: '1/16/2030 9:30:00 AM +00:00',
        id: tenant.id,
        tenant_id: 'ignored',
        key: 'ignored',
        created_by: 'ignored',
        unknown: true,
      });
      assert.equal(status, 201);
      const { id, key, ...rest } = json;
      assert.deepEqual(rest, {
        tenant_id: tenant.id,
        name: ' Shop ',
        type: 'public',
        permissions: ['token:create', 'token:update'],
        rules: [{ ...RULE, description: 'Cards', transform: 'mask' }],
        expires_at: '2030-01-16T09:30:00.000+00:00',
        created_by: callerId,
        created_at: NOW,
      });
      assert.ok(isWellFormedApiKey(key) && key.startsWith('key_pub_'));
      assert.notEqual(id, tenant.id);
      const own = await app.call('GET', '/applications/key', { key });
      const { keys, ...application } = own.json;
      assert.deepEqual([own.status, application, keys.length], [200, { id, ...rest }, 1]);
      assert.equal(text.split(key).length, 2);
      assert.deepEqual(await entries(id), [['create', 'Application created', 'application', callerId]]);
      const dump = await app.db.owner.query(
        'SELECT a::text AS a, k::text AS k FROM applications a JOIN api_keys k ON k.application_id = a.id',
      );
      assert.doesNotMatch(JSON.stringify(dump.rows) + app.logLines.join(''), new RegExp(key.slice(8)));
    });

    it('201 without a key when create_key is false, until one is added', async () => {
      const { status, json } = await create({
        name: 'A',
        type: 'management',
        permissions: ['log:read'],
        create_key: false,
      });
      assert.deepEqual([status, json.key, json.create_key], [201, undefined, undefined]);
      assert.deepEqual((await call('GET', `/applications/${json.id}/keys`)).json, []);
      const added = await call('POST', `/applications/${json.id}/keys`);
      assert.equal((await app.call('GET', '/logs', { key: added.json.key })).status, 200);
    });

    it('201 for null in every optional field, inside a rule too: the same as absent', async () => {
      const rules = [{ ...RULE, description: null, conditions: null, transform: null }];
      const body = { name: 'A', type: 'public', permissions: null, rules, expires_at: null, create_key: null };
      const { status, json } = await create(body);
      assert.equal(status, 201);
      assert.deepEqual(json.rules, [{ ...RULE, transform: 'mask' }]);
      assert.deepEqual([json.permissions, json.expires_at, typeof json.key], [[], undefined, 'string']);
    });

    it('201 or 400 for each of the ninety pairs of type and permission, as the catalogue says', async () => {
      for (const type of TYPES) {
        for (const { type: permission, application_types: holders } of PERMISSIONS) {
          const { status, json } = await create({ name: 'A', type, permissions: [permission] });
          const isAllowed = (holders as readonly string[]).includes(type);
          assert.equal(status, isAllowed ? 201 : 400, `${type} ${permission}`);
          if (!isAllowed) assert.match(json.errors.permissions.join(), new RegExp(`${permission} cannot be held`));
        }
      }
    });

    it('201 with a hundred rules, and shows them in the order they were sent', async () => {
      const rules = Array.from({ length: 100 }, (_, index) => ({
        ...RULE,
        priority: 100 - index,
        transform: 'redact',
      }));
      const { status, json } = await create({ name: 'A', type: 'public', rules });
      assert.equal(status, 201);
      assert.deepEqual(json.rules, rules);
    });
  });

  describe('GET /applications', () => {
    it('200, newest first, in pages with exact totals; past the end empty; wrapped in two', async () => {
      const own = await app.makeTenant();
      const ids: string[] = [];
      for (let made = 0; made < 5; made += 1) {
        clock.advance(1);
        const { json } = await app.call('POST', '/applications', {
          key: own.key,
          body: { name: `N${made}`, type: made % 2 ? 'public' : 'private', permissions: ['token:create'] },
        });
        ids.unshift(json.id);
      }
      const list = async (query: string) => (await app.call('GET', `/applications${query}`, { key: own.key })).json;
      const first = await list('?size=2&page=1');
      assert.deepEqual(Object.keys(first).sort(), ['data', 'pagination']);
      assert.deepEqual(first.pagination, { total_items: 6, page_number: 1, page_size: 2, total_pages: 3 });
      const pages = [first, await list('?size=2&page=2'), await list('?size=2&page=3')];
      const seen = pages.flatMap(({ data }) => data.map(({ id }: { id: string }) => id));
      assert.deepEqual(seen.slice(0, 5), ids);
      assert.equal(seen.length, 6);
      const past = await list('?size=2&page=2147483647');
      assert.deepEqual([past.data, past.pagination.page_number, past.pagination.total_items], [[], 2147483647, 6]);
      assert.ok(pages.every(({ data }) => data.every((row: object) => !('key' in row))));

      const idsOf = async (query: string) => (await list(query)).data.map(({ id }: { id: string }) => id);
      assert.deepEqual(await idsOf('?type=public'), [ids[1], ids[3]]);
      assert.equal((await idsOf('?type=public&type=private')).length, 5);
      assert.deepEqual(await idsOf(`?id=${ids[3]?.toUpperCase()}&id=${ids[0]}`), [ids[0], ids[3]]);
      assert.deepEqual(await idsOf(`?id=${ids[0]}&type=public`), []);
      assert.deepEqual(await idsOf('?id=nonsense'), []);
      assert.deepEqual((await list('?id=nonsense')).pagination.total_pages, 0);
      assert.equal((await idsOf('?id=')).length, 6);
    });

    it('400 naming the parameter for pages, sizes and types that are none', async () => {
      for (const [query, path] of [
        ['page=0', 'page'],
        ['page=2147483648', 'page'],
        ['page=x', 'page'],
        ['page=1&page=2', 'page'],
        ['size=0', 'size'],
        ['size=101', 'size'],
        ['type=admin', 'type[0]'],
        ['id=%00', 'id[0]'],
      ] as const) {
        const { status, json } = await call('GET', `/applications?${query}`);
        assert.deepEqual([status, Object.keys(json.errors ?? {})], [400, [path]], query);
      }
    });
  });

  describe('GET, PUT, DELETE /applications/{id}', () => {
    it('200 by an id in any case; 404 for an unknown one and for what is no id', async () => {
      const { json } = await create({ name: 'A', type: 'private', permissions: ['token:read'] });
      const { key: _, ...shown } = json;
      const { keys, ...found } = (await call('GET', `/applications/${json.id.toUpperCase()}`)).json;
      assert.deepEqual([found, keys.length], [shown, 1]);
      for (const id of ['4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10', 'nonsense', '%00', 'key2', `${json.id}x`]) {
        for (const [method, body] of [
          ['GET'],
          ['PUT', { name: 'N', permissions: ['token:read'] }],
          ['DELETE'],
        ] as const) {
          const answer = await call(method, `/applications/${id}`, { ...(body && { body }) });
          assert.deepEqual([answer.status, answer.json.code], [404, 'not_found'], `${method} ${id}`);
        }
      }
    });

    it('200 for PUT: everything is replaced, what is left out or null is none, type may be repeated', async () => {
      const { json } = await create({
        name: 'A',
        type: 'private',
        permissions: ['token:read'],
        rules: [RULE],
        expires_at: '2030-02-01',
      });
      clock.advance(1_000);
      const body = { name: 'B', type: 'private', permissions: ['token:search'], rules: null, expires_at: null };
      const updated = await call('PUT', `/applications/${json.id}`, { body });
      const { key: _, expires_at: __, ...kept } = json;
      assert.equal(updated.status, 200);
      const { keys } = updated.json;
      assert.equal(keys.length, 1);
      assert.deepEqual(updated.json, {
        ...kept,
        keys,
        name: 'B',
        permissions: ['token:search'],
        rules: [],
        modified_by: callerId,
        modified_at: new Date(clock.nowMs()).toISOString().replace('Z', '+00:00'),
      });
      assert.deepEqual((await call('GET', `/applications/${json.id}`)).json, updated.json);
      const rules = [{ ...RULE, transform: 'reveal' }];
      const ruled = await call('PUT', `/applications/${json.id}`, { body: { name: 'B', rules } });
      assert.deepEqual([ruled.json.permissions, ruled.json.rules], [[], rules]);
      const messages = (await entries(json.id)).map(([, message]) => message);
      assert.deepEqual(messages, ['Application created', 'Application updated', 'Application updated']);
    });

    it('204 for DELETE: its keys answer 401 at once, it is gone, and one entry says so', async () => {
      const { json } = await create({ name: 'A', type: 'private', permissions: ['token:read'] });
      assert.equal((await app.call('GET', '/permissions', { key: json.key })).status, 200);
      clock.advance(1);
      const deleted = await call('DELETE', `/applications/${json.id}`);
      assert.deepEqual([deleted.status, deleted.text], [204, '']);
      assert.equal((await app.call('GET', '/permissions', { key: json.key })).status, 401);
      assert.equal((await call('GET', `/applications/${json.id}`)).status, 404);
      assert.equal((await call('DELETE', `/applications/${json.id}`)).status, 404);
      assert.deepEqual((await entries(json.id)).at(-1), ['delete', 'Application deleted', 'application', callerId]);
      assert.equal((await entries(json.id)).length, 2);
    });

    it('204 for an Application that deletes itself: that was its last request', async () => {
      const self = await app.makeApplication(tenant.id, 'management', ['application:delete']);
      assert.equal((await app.call('DELETE', `/applications/${self.id}`, { key: self.key })).status, 204);
      assert.equal((await app.call('GET', '/permissions', { key: self.key })).status, 401);
    });
  });

  it('200 with the Application of the key, whatever it may do', async () => {
    for (const [type, permissions] of [
      ['public', ['token:create']],
      ['private', ['token:use']],
      ['management', ['report:read']],
    ] as const) {
      const { id, key } = await app.makeApplication(tenant.id, type, permissions);
      const { status, json } = await app.call('GET', '/applications/key', { key });
      assert.deepEqual([status, json.id, json.type, json.key], [200, id, type, undefined]);
    }
  });
});

describe('application templates', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  it('200 with the seven shipped ones for any key, each readable by its id and good for making an Application', async () => {
    const tenant = await app.makeTenant();
    const key = await app.makeKey(tenant.id, 'public', ['token:create']);
    const { status, json } = await app.call('GET', '/application-templates', { key });
    assert.equal(status, 200);
    assert.deepEqual(
      json.map((one: Record<string, string>) => [one.name, one.application_type, one.template_type]),
      [
        ['Full Access', 'private', 'starters'],
        ['Full Management Access', 'management', 'management'],
        ['Collect PCI Data', 'public', 'payments'],
        ['Collect PII Data', 'public', 'pii'],
        ['Collect Bank Data', 'public', 'banking'],
        ['Use PCI Tokens', 'private', 'payments'],
        ['Use Bank Tokens', 'private', 'banking'],
      ],
    );
    for (const template of json) {
      const fields = [
        'application_type',
        'description',
        'id',
        'is_starter',
        'name',
        'permissions',
        'rules',
        'template_type',
      ];
      assert.deepEqual(Object.keys(template).sort(), fields);
      assert.deepEqual(
        (await app.call('GET', `/application-templates/${template.id.toUpperCase()}`, { key })).json,
        template,
      );
      const { name, application_type: type, rules, permissions } = template;
      const made = await app.call('POST', '/applications', {
        key: tenant.key,
        body: { name, type, rules, permissions },
      });
      assert.deepEqual([made.status, made.json.rules], [201, rules], name);
    }
  });

  it('404 for an id that is none of theirs', async () => {
    const { key } = await app.makeTenant();
    for (const id of ['4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10', 'x', 'constructor', '__proto__']) {
      assert.equal((await app.call('GET', `/application-templates/${id}`, { key })).status, 404, id);
    }
  });
});
