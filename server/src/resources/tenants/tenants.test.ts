import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const START_MS = Date.UTC(2030, 0, 15, 12, 0, 0, 125);
const EMOJI = '😀';
const BOTH_FALSE = { fingerprint_tokens: 'false', deduplicate_tokens: 'false' };

describe('tenants', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock });
  });
  after(() => app.close());

  const get = (tenant: TestTenant) => app.call('GET', '/tenants/self', { key: tenant.key });
  const put = (tenant: TestTenant, options: CallOptions) =>
    app.call('PUT', '/tenants/self', { key: tenant.key, ...options });

  /** The row and the log of a tenant as they are really stored. */
  async function stored(tenantId: string): Promise<{ row: unknown; messages: string[] }> {
    const tenant = await app.db.owner.query('SELECT to_jsonb(t) AS row FROM tenants t WHERE id = $1', [tenantId]);
    const logs = await app.db.owner.query<{ message: string }>(
      'SELECT message FROM logs WHERE tenant_id = $1 ORDER BY created_at, id',
      [tenantId],
    );
    return { row: tenant.rows[0]?.row, messages: logs.rows.map(({ message }) => message) };
  }

  async function updates(tenantId: string): Promise<string[]> {
    return (await stored(tenantId)).messages.filter((message) => message.startsWith('Tenant updated'));
  }

  async function applicationOf(tenantId: string): Promise<string> {
    const found = await app.db.owner.query<{ id: string }>('SELECT id FROM applications WHERE tenant_id = $1', [
      tenantId,
    ]);
    return found.rows[0]?.id ?? '';
  }

  describe('GET /tenants/self', () => {
    it('200 with exactly the fields of a tenant that was never changed', async () => {
      const tenant = await app.makeTenant('Fresh');
      const { status, json } = await get(tenant);
      assert.equal(status, 200);
      assert.deepEqual(json, {
        id: tenant.id,
        owner_id: tenant.ownerId,
        name: 'Fresh',
        settings: BOTH_FALSE,
        created_at: '2030-01-15T12:00:00.125+00:00',
      });
    });

    it('200 with created_by when a user made the tenant', async () => {
      const tenant = await app.makeTenant();
      await app.db.owner.query('UPDATE tenants SET created_by = owner_id WHERE id = $1', [tenant.id]);
      assert.equal((await get(tenant)).json.created_by, tenant.ownerId);
    });

    it('401 without a key and 403 without tenant:read, and the name stays unknown', async () => {
      const tenant = await app.makeTenant('Not for everyone');
      const weak = await app.makeKey(tenant.id, 'management', ['tenant:update']);
      const anonymous = await app.call('GET', '/tenants/self');
      const denied = await app.call('GET', '/tenants/self', { key: weak });
      assert.deepEqual([anonymous.status, denied.status], [401, 403]);
      assert.doesNotMatch(anonymous.text + denied.text, /Not for everyone/);
    });
  });

  describe('PUT /tenants/self, accepted', () => {
    it('200 with the updated tenant, who changed it and when, and the next GET says the same', async () => {
      const tenant = await app.makeTenant('Before');
      await get(tenant);
      const changed = createdLater(5_000);
      const answer = await put(tenant, { body: { name: ' After ', settings: { fingerprint_tokens: 'true' } } });
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.json, {
        id: tenant.id,
        owner_id: tenant.ownerId,
        name: ' After ',
        settings: { fingerprint_tokens: 'true', deduplicate_tokens: 'false' },
        created_at: changed.created,
        modified_by: await applicationOf(tenant.id),
        modified_at: changed.modified,
      });
      assert.deepEqual((await get(tenant)).json, answer.json);
    });

    /** Moves time on between making a tenant and changing it, and writes both moments as the wire does. */
    function createdLater(ms: number): { created: string; modified: string } {
      const wire = (at: number) => new Date(at).toISOString().replace('Z', '+00:00');
      const created = wire(clock.nowMs());
      clock.advance(ms);
      return { created, modified: wire(clock.nowMs()) };
    }

    const accepted: readonly [circumstance: string, body: object, settings: object][] = [
      ['no settings', {}, { fingerprint_tokens: 'true', deduplicate_tokens: 'false' }],
      ['null settings', { settings: null }, { fingerprint_tokens: 'true', deduplicate_tokens: 'false' }],
      ['empty settings', { settings: {} }, { fingerprint_tokens: 'true', deduplicate_tokens: 'false' }],
      [
        'a null setting',
        { settings: { fingerprint_tokens: null, deduplicate_tokens: 'true' } },
        { fingerprint_tokens: 'true', deduplicate_tokens: 'true' },
      ],
      [
        'only fingerprint_tokens',
        { settings: { fingerprint_tokens: 'false' } },
        { fingerprint_tokens: 'false', deduplicate_tokens: 'false' },
      ],
      [
        'only deduplicate_tokens',
        { settings: { deduplicate_tokens: 'true' } },
        { fingerprint_tokens: 'true', deduplicate_tokens: 'true' },
      ],
    ];
    for (const [circumstance, body, settings] of accepted) {
      it(`200 with ${circumstance}: a setting left out keeps its value`, async () => {
        const tenant = await app.makeTenant();
        await put(tenant, { body: { name: 'N', settings: { fingerprint_tokens: 'true' } } });
        const answer = await put(tenant, { body: { name: 'N', ...body } });
        assert.equal(answer.status, 200);
        assert.deepEqual(answer.json.settings, settings);
        assert.deepEqual((await get(tenant)).json.settings, settings);
      });
    }

    for (const [circumstance, name] of [
      ['200 letters', 'n'.repeat(200)],
      ['200 emoji, each one character', EMOJI.repeat(200)],
      ['line breaks, quotes and another script', 'a\nb\t"\'\\ 名前 \u202e'],
      ['one character', 'x'],
    ] as const) {
      it(`200 for a name of ${circumstance}: it is stored as sent`, async () => {
        const tenant = await app.makeTenant();
        const answer = await put(tenant, { body: { name } });
        assert.equal(answer.status, 200);
        assert.equal(answer.json.name, name);
        assert.equal((await get(tenant)).json.name, name);
      });
    }

    it('200 with unknown fields and fields the server sets: both are ignored', async () => {
      const tenant = await app.makeTenant('Mine');
      const other = '11111111-1111-4111-8111-111111111111';
      const { json: unchanged } = await get(tenant);
      const fields = { id: other, tenant_id: other, owner_id: other, created_by: other, created_at: 1, deleted_at: 1 };
      const more = {
        modified_by: other,
        modified_at: 'never',
        nonsense: { a: [1] },
        included_monthly_active_tokens: 9,
      };
      const answer = await put(tenant, { body: { name: 'Mine', ...fields, ...more } });
      assert.equal(answer.status, 200);
      const { modified_by, modified_at, ...rest } = answer.json;
      assert.deepEqual(rest, unchanged);
      assert.equal(modified_by, await applicationOf(tenant.id));
      assert.notEqual(modified_at, 'never');
    });

    it('200 writes one log entry a PUT, which tells a change of settings from any other', async () => {
      const tenant = await app.makeTenant();
      await put(tenant, { body: { name: 'One' } });
      clock.advance(1);
      await put(tenant, { body: { name: 'Two', settings: { deduplicate_tokens: 'true' } } });
      clock.advance(1);
      await put(tenant, { body: { name: 'Three', settings: { deduplicate_tokens: 'true' } } });
      assert.deepEqual(await updates(tenant.id), [
        'Tenant updated',
        'Tenant updated, settings changed',
        'Tenant updated',
      ]);
    });

    it('200 commits the entry in the transaction of the change, with who, what and when', async () => {
      const tenant = await app.makeTenant();
      const { json } = await put(tenant, { body: { name: 'Traced' }, headers: { 'SVC-TRACE-ID': 'trace-of-put' } });
      const found = await app.db.owner.query(
        `SELECT l.*, l.xmin = t.xmin AS is_together, t.modified_at = l.created_at AS is_same_moment
         FROM logs l JOIN tenants t ON t.id = l.tenant_id WHERE t.id = $1 AND l.operation = 'update'`,
        [tenant.id],
      );
      const [entry] = found.rows;
      assert.equal(found.rows.length, 1);
      assert.deepEqual([entry.is_together, entry.is_same_moment], [true, true]);
      assert.deepEqual([entry.actor_type, entry.actor_id], ['application', json.modified_by]);
      assert.deepEqual([entry.entity_type, entry.entity_id], ['tenant', tenant.id]);
      assert.deepEqual([entry.outcome, entry.trace_id, entry.source_address], ['success', 'trace-of-put', '127.0.0.1']);
    });

    it('200 for parallel PUTs: every one has its entry and the last state is one of those sent', async () => {
      const tenant = await app.makeTenant();
      const names = Array.from({ length: 20 }, (_, index) => `Name ${index}`);
      const answers = await Promise.all(names.map((name) => put(tenant, { body: { name } })));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal((await updates(tenant.id)).length, names.length);
      assert.ok(names.includes((await get(tenant)).json.name));
    });
  });

  describe('PUT /tenants/self, refused', () => {
    const name = 'N';
    const refused: readonly [circumstance: string, request: CallOptions, errors: Record<string, RegExp>][] = [
      ['no name', { body: {} }, { name: /is required/ }],
      ['a null name', { body: { name: null } }, { name: /is required/ }],
      ['an empty name', { body: { name: '' } }, { name: /empty|blank/ }],
      ['a name of spaces', { body: { name: ' \t\n ' } }, { name: /blank/ }],
      ['a name of characters that leave no mark', { body: { name: '\u200b\u00ad' } }, { name: /blank/ }],
      ['a name with NUL', { body: { name: 'a\u0000b' } }, { name: /NUL/ }],
      ['a name with half a surrogate pair', { raw: '{"name":"a\\ud800"}' }, { name: /surrogate/ }],
      ['a name of 201 letters', { body: { name: 'n'.repeat(201) } }, { name: /at most 200/ }],
      ['a name of 201 emoji', { body: { name: EMOJI.repeat(201) } }, { name: /at most 200/ }],
      [
        'a name of 202 code points that look like 101',
        { body: { name: 'e\u0301'.repeat(101) } },
        { name: /at most 200/ },
      ],
      ['a number as name', { body: { name: 1 } }, { name: /string/ }],
      ['a boolean as name', { body: { name: true } }, { name: /string/ }],
      ['a list as name', { body: { name: ['N'] } }, { name: /string/ }],
      ['an object as name', { body: { name: {} } }, { name: /string/ }],
      ['a string as settings', { body: { name, settings: 'true' } }, { settings: /object/ }],
      ['a list as settings', { body: { name, settings: [] } }, { settings: /object/ }],
      ['a boolean as settings', { body: { name, settings: true } }, { settings: /object/ }],
      [
        'an unknown setting',
        { body: { name, settings: { nonsense: 'true' } } },
        { 'settings.nonsense': /fingerprint_tokens and deduplicate_tokens/ },
      ],
      [
        'an unknown setting beside a known one',
        { body: { name, settings: { fingerprint_tokens: 'true', Fingerprint_tokens: null } } },
        { 'settings.Fingerprint_tokens': /fingerprint_tokens and deduplicate_tokens/ },
      ],
      [
        'a JSON boolean as setting',
        { body: { name, settings: { fingerprint_tokens: true } } },
        { 'settings.fingerprint_tokens': /as a string/ },
      ],
      [
        'a setting in capitals and one as number',
        { body: { name, settings: { fingerprint_tokens: 'TRUE', deduplicate_tokens: 1 } } },
        { 'settings.fingerprint_tokens': /"true" or "false"/, 'settings.deduplicate_tokens': /"true" or "false"/ },
      ],
      [
        'an empty setting',
        { body: { name, settings: { deduplicate_tokens: '' } } },
        { 'settings.deduplicate_tokens': /"true" or "false"/ },
      ],
      [
        'two faults at once',
        { body: { name: '', settings: { fingerprint_tokens: 'no' } } },
        { name: /empty|blank/, 'settings.fingerprint_tokens': /"true" or "false"/ },
      ],
      ['no body', {}, { $: /required/ }],
      ['an empty body', { raw: '' }, { $: /required/ }],
      ['a list as body', { body: [{ name }] }, { $: /object/ }],
      ['a string as body', { body: name }, { $: /object/ }],
      ['null as body', { raw: 'null' }, { $: /object|required/ }],
    ];
    for (const [circumstance, request, expected] of refused) {
      it(`400 for ${circumstance}, naming the field, and nothing changes`, async () => {
        const tenant = await app.makeTenant();
        const untouched = await stored(tenant.id);
        const { status, json } = await put(tenant, request);
        assert.equal(status, 400);
        assert.equal(json.code, 'validation_failed');
        assert.deepEqual(Object.keys(json.errors).sort(), Object.keys(expected).sort());
        for (const [path, pattern] of Object.entries(expected)) assert.match(json.errors[path].join(), pattern);
        assert.deepEqual(await stored(tenant.id), untouched);
      });
    }

    it('400 for text that is not JSON and 415 for another media type, and nothing changes', async () => {
      const tenant = await app.makeTenant();
      const untouched = await stored(tenant.id);
      const broken = await put(tenant, { raw: '{"name":"N"' });
      const form = await put(tenant, {
        raw: 'name=N',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      });
      assert.deepEqual([broken.json.code, form.json.code], ['malformed_json', 'unsupported_media_type']);
      assert.deepEqual(await stored(tenant.id), untouched);
    });
  });

  describe('DELETE /tenants/self', () => {
    const remove = (key: string, options: CallOptions = {}) => app.call('DELETE', '/tenants/self', { key, ...options });
    const keysOf = async (tenantId: string) =>
      (await app.db.owner.query('SELECT 1 FROM tenant_keys WHERE tenant_id = $1', [tenantId])).rows.length;

    it('204 without a body, then 401 at once with every key of the tenant, and its data keys are gone', async () => {
      const tenant = await app.makeTenant();
      const keys = [
        tenant.key,
        await app.makeKey(tenant.id, 'management', ['tenant:read']),
        await app.makeKey(tenant.id, 'private', ['token:read']),
        await app.makeKey(tenant.id, 'public', ['token:create']),
      ];
      const ask = () => Promise.all(keys.map(async (key) => (await app.call('GET', '/permissions', { key })).status));
      assert.deepEqual(await ask(), [200, 200, 200, 200]);
      await app.keyStore.keyring.forTenant(tenant.id);
      const answer = await remove(tenant.key);
      assert.deepEqual([answer.status, answer.text, answer.headers.get('content-type')], [204, '', null]);
      assert.deepEqual(await ask(), [401, 401, 401, 401]);
      assert.equal((await remove(tenant.key)).json.code, 'invalid_api_key');
      assert.equal(await keysOf(tenant.id), 0);
      await assert.rejects(
        async () => app.keyStore.keyring.forTenant(tenant.id),
        'stored data must be unreadable at once',
      );
    });

    it('204 leaves every other tenant as it was', async () => {
      const [doomed, other] = [await app.makeTenant(), await app.makeTenant('Other')];
      const untouched = await stored(other.id);
      await remove(doomed.key);
      assert.deepEqual(await stored(other.id), untouched);
      assert.ok((await keysOf(other.id)) > 0);
      assert.equal((await get(other)).json.name, 'Other');
    });

    it('204 tells the security log who deleted which tenant, and never the key', async () => {
      const tenant = await app.makeTenant();
      const actor = await applicationOf(tenant.id);
      await remove(tenant.key, { headers: { 'SVC-TRACE-ID': 'trace-of-delete' } });
      const text = app.logLines.join('');
      const [line = '{}'] = text
        .split('\n')
        .filter((entry) => entry.includes('"tenant_deleted"') && entry.includes(tenant.id));
      const { stream, actor: by, traceId } = JSON.parse(line);
      assert.deepEqual([stream, by, traceId], ['security', actor, 'trace-of-delete']);
      assert.ok(!text.includes(tenant.key));
    });

    for (const [circumstance, options] of [
      ['a JSON body', { body: { name: 'ignored' } }],
      ['an empty body called JSON', { headers: { 'Content-Type': 'application/json' } }],
      ['text that is not JSON', { raw: '{', headers: { 'Content-Type': 'application/json' } }],
      ['a form', { raw: 'a=b', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
      ['a content type that is none', { raw: 'x', headers: { 'Content-Type': 'nonsense' } }],
      ['no body and a content type that is none', { headers: { 'Content-Type': 'nonsense' } }],
      ['unknown parameters', {}],
    ] as const) {
      it(`204 with ${circumstance}: nothing is read from it`, async () => {
        const tenant = await app.makeTenant();
        const answer = await app.call('DELETE', '/tenants/self?force=no&force=yes', { key: tenant.key, ...options });
        assert.deepEqual([answer.status, answer.text], [204, '']);
        assert.equal((await get(tenant)).status, 401);
      });
    }

    it('403 without tenant:delete, and nothing changes', async () => {
      const tenant = await app.makeTenant();
      const weak = await app.makeKey(tenant.id, 'management', ['tenant:update']);
      const untouched = await stored(tenant.id);
      assert.equal((await remove(weak)).status, 403);
      assert.deepEqual(await stored(tenant.id), untouched);
      assert.equal((await get(tenant)).status, 200);
    });

    it('204 for one of two DELETEs at once and 401 for the other: a tenant is deleted once', async () => {
      const tenant = await app.makeTenant();
      const answers = await Promise.all([remove(tenant.key), remove(tenant.key)]);
      assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 401]);
    });
  });
});
