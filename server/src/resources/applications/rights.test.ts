import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { macOf } from '../../crypto/keyed-hash.js';
import { BEFORE_ECHO_MS, eventually } from '../../testing/eventually.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer, CallOptions } from '../../testing/http-client.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';

const RULE = { priority: 1, container: '/pci/', permissions: ['token:create'] };
const UNKNOWN_ID = '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10';

describe('rights that change', () => {
  let first: TestApp;
  let second: TestApp;
  let tenant: TestTenant;
  before(async () => {
    first = await startTestApp();
    second = await startTestApp({ beside: { db: first.db, rootKey: rootKeyOf(first) } });
    tenant = await first.makeTenant();
    const isHearing = (app: TestApp) => /^strongroom_changes_heard 1$/m.test(app.metrics.render());
    await eventually('both hear each other', () => [first, second].every(isHearing));
  });
  after(async () => {
    await second.close();
    await first.close();
  });

  const change = (method: string, path: string, body?: object) =>
    first.call(method, `/applications/${path}`, { key: tenant.key, ...(body && { body }) });
  const readsLogs = async (app: TestApp, key: string) => (await app.call('GET', '/logs', { key })).status;

  async function assertHolds(key: string, status: number): Promise<void> {
    assert.equal(await readsLogs(first, key), status, 'at once in the process that made the change');
    await eventually('soon in the other', async () => (await readsLogs(second, key)) === status, BEFORE_ECHO_MS);
  }

  it('403 from the next request on after a permission was taken away, and 200 after it was given back', async () => {
    const { id, key } = await first.makeApplication(tenant.id, 'management', ['log:read']);
    assert.deepEqual([await readsLogs(first, key), await readsLogs(second, key)], [200, 200]);
    await change('PUT', id, { name: 'A', permissions: ['report:read'] });
    await assertHolds(key, 403);
    await change('PUT', id, { name: 'A', permissions: ['log:read'] });
    await assertHolds(key, 200);
  });

  it('401 from the next request on after regeneration, revocation and deletion', async () => {
    const [one, two, three] = await Promise.all(
      [1, 2, 3].map(() => first.makeApplication(tenant.id, 'management', ['log:read'])),
    );
    assert.ok(one && two && three);
    for (const { key } of [one, two, three]) assert.equal(await readsLogs(second, key), 200);
    await change('POST', `${one.id}/regenerate`);
    await assertHolds(one.key, 401);
    const [keyRow] = (await change('GET', `${two.id}/keys`)).json;
    await change('DELETE', `${two.id}/keys/${keyRow.id}`);
    await assertHolds(two.key, 401);
    await change('DELETE', three.id);
    await assertHolds(three.key, 401);
  });
});

describe('an application that would lift itself', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const LIFTS: readonly (readonly [method: string, path: string, needs: string, body?: object])[] = [
    ['PUT', '/applications/{self}', 'application:update', { name: 'A', permissions: ['tenant:delete'] }],
    ['PUT', '/applications/{other}', 'application:update', { name: 'A', permissions: ['log:read'] }],
    ['POST', '/applications', 'application:create', { name: 'A', type: 'management', permissions: ['tenant:delete'] }],
    ['POST', '/applications/{other}/regenerate', 'application:update'],
    ['POST', '/applications/{other}/keys', 'application:update'],
    ['POST', '/applications/{self}/keys', 'application:update'],
    ['DELETE', '/applications/{other}', 'application:delete'],
    ['DELETE', '/applications/{other}/keys/{key}', 'application:update'],
  ];

  for (const [method, path, needs, body] of LIFTS) {
    it(`403 for ${method} ${path} with every management permission but ${needs}, and nothing changes`, async () => {
      const others = ['read', 'create', 'update', 'delete']
        .map((act) => `application:${act}`)
        .filter((name) => name !== needs);
      const self = await app.makeApplication(tenant.id, 'management', [...others, 'tenant:read', 'log:read']);
      const other = await app.makeApplication(tenant.id, 'management', ['tenant:delete', 'tenant:update']);
      const keys = await app.call('GET', `/applications/${other.id}/keys`, { key: tenant.key });
      const untouched = await stored();
      const address = path.replace('{self}', self.id).replace('{other}', other.id).replace('{key}', keys.json[0].id);
      const answer = await app.call(method, address, { key: self.key, ...(body && { body }) });
      assert.deepEqual([answer.status, answer.json.code], [403, 'permission_denied']);
      assert.equal(await stored(), untouched);
    });
  }

  it('403 for a private and a public application on every one of these', async () => {
    const wide = { ...RULE, container: '/', transform: 'reveal' } as const;
    const other = await app.makeApplication(tenant.id, 'management', ['tenant:read']);
    for (const type of ['private', 'public'] as const) {
      const { id, key } = await app.makeApplication(tenant.id, type, ['token:create'], [wide]);
      for (const [method, path, , body] of LIFTS) {
        const address = path.replace('{self}', id).replace('{other}', other.id).replace('{key}', UNKNOWN_ID);
        assert.equal((await app.call(method, address, { key, ...(body && { body }) })).status, 403, `${type} ${path}`);
      }
    }
  });

  async function stored(): Promise<string> {
    const found = await app.db.owner.query(
      `SELECT (SELECT jsonb_agg(a ORDER BY id) FROM applications a) AS a, (SELECT jsonb_agg(to_jsonb(k) - 'last_used_at' ORDER BY id) FROM api_keys k) AS k,
              (SELECT count(*) FROM logs) AS l`,
    );
    return JSON.stringify(found.rows);
  }
});

describe('an application edited in the database', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const call = (method: string, path: string, options: CallOptions = {}) =>
    app.call(method, path, { key: tenant.key, ...options });
  const linesOf = (id: string) =>
    app.logLines
      .join('')
      .split('\n')
      .filter((line) => line.includes('integrity_fault') && line.includes(id));

  for (const [circumstance, edit] of [
    ['a rule widened', `rules = replace(rules, '/pci/', '/')`],
    ['a transform loosened', `rules = replace(rules, 'redact', 'reveal')`],
    ['a rule that is no JSON', `rules = 'x'`],
    ['its rules taken away', `rules = '[]'`],
    ['a space added to its rules', `rules = rules || ' '`],
    ['another seal', `mac = decode(repeat('00', 32), 'hex')`],
    ['another type', `type = 'management'`],
    ['a later end', `expires_at = '9999-01-01'`],
  ] as const) {
    it(`503 and a security line (${circumstance}): with its key, on reading it, and on signing it anew`, async () => {
      const redacted = { ...RULE, transform: 'redact', permissions: ['token:read'] } as const;
      const { id, key } = await app.makeApplication(tenant.id, 'private', ['token:create'], [redacted]);
      await app.db.owner.query(`UPDATE applications SET ${edit} WHERE id = $1`, [id]);
      const body = { name: 'A', permissions: ['log:read'] };
      for (const answer of [
        await app.call('GET', '/permissions', { key }),
        await call('GET', `/applications/${id}`),
        await call('GET', `/applications?id=${id}`),
        await call('PUT', `/applications/${id}`, { body: { ...body, permissions: ['token:create'] } }),
        await call('POST', `/applications/${id}/regenerate`),
        await call('POST', `/applications/${id}/keys`),
      ]) {
        assert.deepEqual([answer.status, answer.json.code], [503, 'storage_unavailable']);
      }
      const told = linesOf(id);
      assert.equal(told.length, 6);
      assert.ok(told.every((line) => line.includes('"stream":"security"')));
      assert.equal((await call('DELETE', `/applications/${id}`)).status, 204, 'it can still be removed');
    });
  }

  it('one security line for a changed row beside changes of others in the same batch, and those are done', async () => {
    const { id } = await app.makeApplication(tenant.id, 'private', ['token:create']);
    await app.db.owner.query(`UPDATE applications SET expires_at = '9999-01-01' WHERE id = $1`, [id]);
    const others = await Promise.all(
      Array.from({ length: 8 }, () => app.makeApplication(tenant.id, 'private', ['token:create'])),
    );
    for (const [method, path] of [
      ['PUT', `/applications/${id}`],
      ['POST', `/applications/${id}/keys`],
      ['POST', `/applications/${id}/regenerate`],
    ] as const) {
      const body = method === 'PUT' ? { name: 'A', permissions: ['token:create'] } : {};
      const before = linesOf(id).length;
      const [changed, ...beside] = await Promise.all([
        call(method, path, { body }),
        ...others.map((other) => call('POST', `/applications/${other.id}/keys`)),
      ]);
      assert.equal(changed.status, 503);
      assert.ok(beside.every(({ status }) => status === 201));
      assert.equal(linesOf(id).length - before, 1, `${method} ${path}`);
    }
  });

  it('200 for a row of the release before there were rules; its old seal does not cover rules', async () => {
    const { id, key } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const mac = macOf(app.keyStore.systemKeys.rowMac, [
      'application-rights-1',
      tenant.id,
      id,
      'private',
      '',
      'token:read',
    ]);
    await app.db.owner.query('UPDATE applications SET mac = $2 WHERE id = $1', [id, mac]);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
    assert.equal((await call('GET', `/applications/${id}`)).status, 200);
    const other = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const old = macOf(app.keyStore.systemKeys.rowMac, [
      'application-rights-1',
      tenant.id,
      other.id,
      'private',
      '',
      'token:read',
    ]);
    await app.db.owner.query('UPDATE applications SET mac = $2, rules = $3 WHERE id = $1', [
      other.id,
      old,
      JSON.stringify([RULE]),
    ]);
    assert.equal((await app.call('GET', '/permissions', { key: other.key })).status, 503);
  });
});

describe('what the security log and the tenant log say', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(Date.UTC(2030, 0, 15)), env: { STRONGROOM_AUDIT: 'full' } });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  const lines = (id: string) =>
    app.logLines
      .join('')
      .split('\n')
      .filter((line) => line.includes('access changed') && line.includes(id))
      .map((line) => JSON.parse(line));

  it('one line a change, with the rights before and after, and never a key', async () => {
    const call = (method: string, path: string, options: CallOptions = {}) =>
      app.call(method, `/applications${path}`, { key: tenant.key, headers: { 'SVC-TRACE-ID': 'trace-x' }, ...options });
    const made = (
      await call('POST', '', { body: { name: 'A', type: 'private', permissions: ['token:read'], rules: [RULE] } })
    ).json;
    const path = `/${made.id}`;
    await call('PUT', path, {
      body: { name: 'B', permissions: ['token:use'], rules: [{ ...RULE, container: '/bank/' }] },
    });
    await call('PUT', path, {
      body: { name: 'C', permissions: ['token:use'], rules: [{ ...RULE, container: '/bank/' }] },
    });
    const regenerated = (await call('POST', `${path}/regenerate`)).json;
    const added = (await call('POST', `${path}/keys`)).json;
    await call('DELETE', `${path}/keys/${added.id}`);
    await call('DELETE', path);
    const told = lines(made.id);
    assert.deepEqual(
      told.map(({ event }) => event),
      [
        'application_created',
        'application_updated',
        'application_key_regenerated',
        'application_key_added',
        'application_key_revoked',
        'application_deleted',
      ],
    );
    assert.deepEqual(told[1].before, {
      permissions: ['token:read'],
      rules: ['/pci/ mask token:create'],
      expiresAt: null,
    });
    assert.deepEqual(told[1].after, {
      permissions: ['token:use'],
      rules: ['/bank/ mask token:create'],
      expiresAt: null,
    });
    assert.ok(
      told.every((line) => line.stream === 'security' && line.traceId === 'trace-x' && line.actor !== undefined),
    );
    for (const key of [made.key, regenerated.key, added.key, tenant.key])
      assert.ok(!app.logLines.join('').includes(key));
  });

  it('full auditing writes reads and refusals, by the id where the route names one', async () => {
    const { id } = await app.makeApplication(tenant.id, 'private', ['token:read']);
    const { id: weakId, key: weak } = await app.makeApplication(tenant.id, 'management', ['report:read']);
    const [key] = (await app.call('GET', `/applications/${id}/keys`, { key: tenant.key })).json;
    await app.call('GET', `/applications/${id}`, { key: tenant.key });
    await app.call('GET', `/applications/${id}/keys/${key.id}`, { key: tenant.key });
    await app.call('GET', '/applications', { key: tenant.key });
    await app.call('GET', '/applications/key', { key: weak });
    await app.call('DELETE', `/applications/${id}`, { key: weak });
    await app.call('POST', '/applications', { key: weak });
    const found = await app.db.owner.query(
      `SELECT message, entity_id FROM logs WHERE tenant_id = $1 AND operation IN ('read', 'denied') ORDER BY message, entity_id`,
      [tenant.id],
    );
    const count = new Map<string, number>();
    for (const row of found.rows) {
      const said = `${row.message} ${row.entity_id}`;
      count.set(said, (count.get(said) ?? 0) + 1);
    }
    assert.deepEqual(
      [...count],
      [
        ['Application listed *', 1],
        ...[[`Application retrieved ${id}`, 3] as const, [`Application retrieved ${weakId}`, 1] as const].sort(),
        ['Request denied *', 1],
        [`Request denied ${id}`, 1],
      ],
    );
  });
});

describe('applications of another tenant', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  /** What a stranger can see, without what differs from request to request. */
  function visible({ status, text, json, headers }: Answer): unknown {
    return [status, text.replace(json.trace_id, ''), headers.get('content-length'), headers.get('content-type')];
  }

  it('404 with the same bytes as for an id nobody has, whatever is asked, and nothing changes', async () => {
    const [mine, theirs] = [await app.makeTenant(), await app.makeTenant()];
    const { id, key } = await app.makeApplication(theirs.id, 'private', ['token:read']);
    const [theirKey] = (await app.call('GET', `/applications/${id}/keys`, { key: theirs.key })).json;
    const body = { name: 'Mine now', permissions: ['token:read'] };
    for (const [method, path, sent] of [
      ['GET', '', undefined],
      ['PUT', '', body],
      ['PUT', '', { ...body, type: 'public', permissions: ['token:create'] }],
      ['DELETE', '', undefined],
      ['POST', '/regenerate', { overlap_seconds: 5 }],
      ['POST', '/keys', undefined],
      ['GET', '/keys', undefined],
      ['GET', `/keys/${theirKey.id}`, undefined],
      ['DELETE', `/keys/${theirKey.id}`, undefined],
    ] as const) {
      const ask = (target: string) =>
        app.call(method, `/applications/${target}${path}`, { key: mine.key, ...(sent && { body: sent }) });
      const [of, unknown] = [await ask(id), await ask(UNKNOWN_ID)];
      assert.deepEqual(visible(of), visible(unknown), `${method} ${path}`);
      assert.equal(of.status, 404, `${method} ${path}`);
    }
    assert.deepEqual((await app.call('GET', `/applications?id=${id}`, { key: mine.key })).json.data, []);
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
  });
});
