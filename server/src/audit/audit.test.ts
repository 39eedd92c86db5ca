import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SLICES } from '../resources.js';
import { createFakeClock } from '../testing/fake-clock.js';
import type { Answer } from '../testing/http-client.js';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import { ENTITY_TYPE_VALUES } from './entity-types.js';

const EVENTS = SLICES.flatMap(({ events }) => events);

const START_MS = Date.UTC(2030, 0, 15, 12, 0, 0, 125);

interface LogRow {
  readonly message: string;
  readonly [column: string]: unknown;
}

/** Entries after those of setting the tenant up. */
async function entriesOf(app: TestApp, { id }: TestTenant): Promise<LogRow[]> {
  const found = await app.db.owner.query<LogRow>(
    `SELECT message, operation, entity_type, entity_id, outcome, actor_type, actor_id::text, trace_id, source_address,
            created_at FROM logs
     WHERE tenant_id = $1 AND message NOT IN ('Tenant created', 'Application created') ORDER BY created_at, id`,
    [id],
  );
  return found.rows;
}

const messagesOf = async (app: TestApp, tenant: TestTenant) => (await entriesOf(app, tenant)).map((row) => row.message);

describe('the catalogue of events', () => {
  it('has constant messages and words that fit their columns, about entity types that are listed', () => {
    for (const { name, entityType, operation, message } of EVENTS) {
      assert.ok(ENTITY_TYPE_VALUES.includes(entityType), name);
      assert.match(operation, /^[a-z_]{1,50}$/, name);
      assert.match(message, /^[A-Z][A-Za-z ,]{0,249}$/, name);
    }
  });

  it('is the only source of messages: an entry holds nothing a client wrote, and no key', async () => {
    const app = await startTestApp({ env: { STRONGROOM_AUDIT: 'full' } });
    try {
      const tenant = await app.makeTenant('from-the-client');
      const body = { name: 'from-the-client', settings: { fingerprint_tokens: 'true' } };
      await app.call('PUT', '/tenants/self', { key: tenant.key, body });
      await app.call('GET', '/tenants/self', { key: tenant.key });
      const known = new Set<string>(EVENTS.map(({ message }) => message));
      const rows = await app.db.owner.query<{ message: string; row: string }>(
        'SELECT message, to_jsonb(l)::text AS row FROM logs l',
      );
      for (const { message, row } of rows.rows) {
        assert.ok(known.has(message), message);
        assert.ok(!row.includes('from-the-client') && !row.includes(tenant.key));
      }
    } finally {
      await app.close();
    }
  });
});

describe('full auditing', () => {
  const clock = createFakeClock(START_MS);
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock, env: { STRONGROOM_AUDIT: 'full' } });
  });
  beforeEach(async () => {
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  async function weakKey(): Promise<{ key: string; applicationId: string }> {
    const key = await app.makeKey(tenant.id, 'private', ['token:read']);
    const found = await app.db.owner.query<{ id: string }>(
      `SELECT id FROM applications WHERE tenant_id = $1 AND type = 'private'`,
      [tenant.id],
    );
    return { key, applicationId: found.rows[0]?.id ?? '' };
  }

  for (const method of ['GET', 'HEAD']) {
    it(`200 for ${method} /tenants/self writes who retrieved the tenant, before the answer is out`, async () => {
      const answer = await app.call(method, '/tenants/self', {
        key: tenant.key,
        headers: { 'SVC-TRACE-ID': 'trace-of-read' },
      });
      assert.equal(answer.status, 200);
      const [entry, ...others] = await entriesOf(app, tenant);
      assert.equal(others.length, 0);
      assert.ok(entry?.actor_id);
      assert.deepEqual(
        { ...entry, actor_id: undefined },
        {
          message: 'Tenant retrieved',
          operation: 'read',
          entity_type: 'tenant',
          entity_id: tenant.id,
          outcome: 'success',
          actor_type: 'application',
          actor_id: undefined,
          trace_id: 'trace-of-read',
          source_address: '127.0.0.1',
          created_at: new Date(START_MS),
        },
      );
    });
  }

  it('200 again and again writes an entry each time, also when the tenant is answered from memory', async () => {
    for (let turn = 0; turn < 3; turn += 1) await app.call('GET', '/tenants/self', { key: tenant.key });
    await Promise.all([1, 2].map(() => app.call('GET', '/tenants/self', { key: tenant.key })));
    assert.deepEqual(await messagesOf(app, tenant), Array(5).fill('Tenant retrieved'));
  });

  for (const [method, path, entity] of [
    ['GET', '/tenants/self', 'tenant'],
    ['PUT', '/tenants/self', 'tenant'],
    ['DELETE', '/tenants/self', 'tenant'],
    ['GET', '/tenants/self/reports/usage', 'tenant'],
    ['GET', '/logs', '*'],
    ['GET', '/logs/entity-types', '*'],
  ] as const) {
    it(`403 for ${method} ${path} writes that it was denied, to whom, about ${entity}`, async () => {
      const { key, applicationId } = await weakKey();
      const answer = await app.call(method, path, { key, ...(method === 'PUT' && { body: { name: 'N' } }) });
      assert.equal(answer.status, 403);
      const entries = await entriesOf(app, tenant);
      const shown = entries.map(({ message, operation, entity_type, entity_id, outcome, actor_id }) => ({
        message,
        operation,
        entity_type,
        entity_id,
        outcome,
        actor_id,
      }));
      const entity_id = entity === 'tenant' ? tenant.id : '*';
      assert.deepEqual(shown, [
        {
          message: 'Request denied',
          operation: 'denied',
          entity_type: 'tenant',
          entity_id,
          outcome: 'denied',
          actor_id: applicationId,
        },
      ]);
    });
  }

  it('403 for a token writes the type it has and the id as it was given, whatever that is; never another status', async () => {
    const maker = await app.makeKey(tenant.id, 'private', ['token:create']);
    const ids = ['It’s 名 😀', 'C0FFEE00-8D8F-4A53-9D6B-5B0A3C1F7A10', 'c0ffee00-8d8f-4a53-9d6b-5b0a3c1f7a10'];
    for (const [n, id] of ids.entries()) {
      const type = n === 2 ? 'token' : 'social_security_number';
      const made = await app.call('POST', '/tokens', { key: maker, body: { id, type, data: '123456789' } });
      assert.equal(made.status, 201, made.text);
    }
    const entryFor = async (id: string) => {
      clock.advance(1);
      const { status } = await app.call('GET', `/tokens/${encodeURIComponent(id)}`, { key: maker });
      const entry = (await entriesOf(app, tenant)).find((row) => Number(row.created_at) === clock.nowMs());
      return [status, entry?.entity_type, entry?.entity_id];
    };
    for (const [n, id] of ids.entries()) {
      assert.deepEqual(await entryFor(id), [403, n === 2 ? 'token' : 'social_security_number', id]);
    }
    assert.deepEqual(await entryFor('nobody'), [403, 'token', 'nobody']);
    assert.deepEqual(await entryFor('x'.repeat(500)), [403, 'token', '*']);
  });

  it('200 for a change writes the entry of the change alone', async () => {
    await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'N' } });
    assert.deepEqual(await messagesOf(app, tenant), ['Tenant updated']);
  });

  it('400 and 401 write no entry', async () => {
    await app.call('PUT', '/tenants/self', { key: tenant.key, body: {} });
    await app.call('GET', '/tenants/self', { key: `${tenant.key}x` });
    await app.call('GET', '/tenants/self');
    assert.deepEqual(await messagesOf(app, tenant), []);
  });

  it('200 for GET /logs shows the entry of the request just answered', async () => {
    clock.advance(1);
    await app.call('GET', '/tenants/self', { key: tenant.key });
    const { json } = await app.call('GET', '/logs?include=details', { key: tenant.key });
    assert.deepEqual([json.data[0].message, json.data[0].outcome], ['Tenant retrieved', 'success']);
  });
});

describe('standard auditing', () => {
  it('200 and 403 write no entry, a change writes its own', async () => {
    const app = await startTestApp();
    try {
      const tenant = await app.makeTenant();
      const weak = await app.makeKey(tenant.id, 'private', ['token:read']);
      assert.equal((await app.call('GET', '/tenants/self', { key: tenant.key })).status, 200);
      assert.equal((await app.call('GET', '/tenants/self', { key: weak })).status, 403);
      assert.equal((await app.call('GET', '/logs', { key: weak })).status, 403);
      assert.deepEqual(await messagesOf(app, tenant), []);
      await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'N' } });
      assert.deepEqual(await messagesOf(app, tenant), ['Tenant updated']);
    } finally {
      await app.close();
    }
  });
});

for (const [circumstance, breakLog, mendLog] of [
  ['may not be written', 'REVOKE INSERT ON logs FROM strongroom_app', 'GRANT INSERT ON logs TO strongroom_app'],
  [
    'has no place for this month',
    'ALTER TABLE logs DETACH PARTITION logs_2030_01',
    `ALTER TABLE logs ATTACH PARTITION logs_2030_01 FOR VALUES FROM ('2030-01-01+00') TO ('2030-02-01+00')`,
  ],
] as const) {
  describe(`when the log ${circumstance}`, () => {
    let app: TestApp;
    let tenant: TestTenant;
    let weak: string;
    before(async () => {
      app = await startTestApp({ clock: createFakeClock(START_MS), env: { STRONGROOM_AUDIT: 'full' } });
      tenant = await app.makeTenant('Hidden name');
      weak = await app.makeKey(tenant.id, 'management', ['log:read']);
      await app.call('GET', '/tenants/self', { key: tenant.key });
      await app.call('GET', '/permissions', { key: weak });
      await app.db.owner.query(breakLog);
    });
    after(() => app.close());

    function assertUnavailable({ status, json, headers, text }: Answer): void {
      assert.deepEqual([status, json.code], [503, 'storage_unavailable']);
      assert.ok(Number(headers.get('retry-after')) >= 1);
      assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
      assert.doesNotMatch(text, /Hidden name|logs|partition|constraint/);
    }

    it('503 for a change, and nothing changes', async () => {
      const row = () => app.db.owner.query('SELECT name, modified_at FROM tenants WHERE id = $1', [tenant.id]);
      assertUnavailable(await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'New' } }));
      assert.deepEqual((await row()).rows, [{ name: 'Hidden name', modified_at: null }]);
    });

    it('503 for an audited read, and nothing is disclosed', async () => {
      assertUnavailable(await app.call('GET', '/tenants/self', { key: tenant.key }));
    });

    it('503 instead of an unrecorded 403', async () => {
      assertUnavailable(await app.call('GET', '/tenants/self', { key: weak }));
    });

    it('200 for what leaves no entry', async () => {
      assert.equal((await app.call('GET', '/permissions', { key: tenant.key })).status, 200);
    });

    it('200 for everything once the log is mended', async () => {
      await app.db.owner.query(mendLog);
      const changed = await app.call('PUT', '/tenants/self', { key: tenant.key, body: { name: 'New' } });
      const read = await app.call('GET', '/tenants/self', { key: tenant.key });
      assert.deepEqual([changed.status, read.status, read.json.name], [200, 200, 'New']);
    });
  });
}
