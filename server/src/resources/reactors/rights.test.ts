// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { RuleDraft } from '../../access/check-rules.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const REVEALS: RuleDraft = {
  description: 'all',
  priority: 1,
  container: '/',
  transform: 'reveal',
  permissions: ['token:read', 'token:create', 'token:use'],
};

describe('as whom code runs', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let caller: string;

  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    caller = await app.makeKey(tenant.id, 'private', ['token:use']);
  });
  after(() => app.close());

  async function make(code: string, application?: string): Promise<string> {
    const body = { name: 'r', code, ...(application !== undefined && { application: { id: application } }) };
    const made = await app.call('POST', '/reactors', { key: tenant.key, body });
    assert.equal(made.status, 201, made.text);
    return made.json.id;
  }
  const react = (id: string, args: object = {}, key = caller) =>
    app.call('POST', `/reactors/${id}/react`, { key, body: { args } });
  const client = (call: string) =>
    `module.exports = async (req) => ({ raw: req.client === null ? 'no client' : await (${call}).catch((e) => e.status) });`;

  it('what it tokenizes takes the right of its Application, and the log names that', async () => {
    const may = await app.makeApplication(tenant.id, 'private', ['token:create']);
    const mayNot = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const code = 'module.exports = async () => ({ tokenize: "made" });';
    const made = await react(await make(code, may.id));
    assert.equal(made.status, 200, made.text);
    const { rows } = await app.db.owner.query('SELECT actor_id, message FROM logs WHERE entity_id = $1', [
      made.json.tokens,
    ]);
    assert.deepEqual(rows, [{ actor_id: may.id, message: 'Token created' }]);
    const refused = await react(await make(code, mayNot.id));
    assert.deepEqual([refused.status, refused.json.code], [403, 'permission_denied']);
  });

  it('rights that change count from the next call on, and an Application that is gone is none', async () => {
    const own = await app.makeApplication(tenant.id, 'private', [], [REVEALS]);
    const token = (await app.call('POST', '/tokens', { key: own.key, body: { data: 'seen' } })).json.id;
    const id = await make(client(`req.client.tokens.get('${token}').then((found) => found.data)`), own.id);
    assert.equal((await react(id)).json.raw, 'seen');
    const narrowed = { name: 'narrow', permissions: ['token:create'], rules: [] };
    await app.call('PUT', `/applications/${own.id}`, { key: tenant.key, body: narrowed });
    assert.equal((await react(id)).json.raw, 403);
    await app.call('DELETE', `/applications/${own.id}`, { key: tenant.key });
    assert.equal((await react(id)).json.raw, 'no client');
  });

  it('what was taken from somebody while the code ran, the tokens it returns do not have', async () => {
    const slow = `module.exports = async ({ args }) => { await fetch('https://nowhere.invalid/').catch(() => {}); while (Date.now() < args.untilMs) await new Promise((done) => setTimeout(done, 20)); return { tokenize: 'late' }; };`;
    const gauge = () => Number(/^strongroom_sandbox_instances_busy (\d+)$/m.exec(app.metrics.render())?.[1]);
    for (const who of ['Application', 'caller']) {
      const own = await app.makeApplication(tenant.id, 'private', ['token:create', 'token:use']);
      const id = await make(slow, who === 'Application' ? own.id : undefined);
      const running = react(id, { untilMs: Date.now() + 2_000 }, who === 'Application' ? caller : own.key);
      await eventually('it runs', () => gauge() === 1);
      await app.call('DELETE', `/applications/${own.id}`, { key: tenant.key });
      const ran = await running;
      assert.deepEqual([ran.status, ran.json.code], [403, 'access_denied'], who);
    }
  });

  it('a run keeps no room that others need for large values', async () => {
    const own = await app.makeApplication(tenant.id, 'private', [], [REVEALS]);
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const made = await app.call('POST', '/tokens', { key: own.key, body: { data: 'x'.repeat(900_000) } });
      ids.push(made.json.id);
    }
    const id = await make(
      'module.exports = async ({ args }) => { while (Date.now() < args.untilMs) await new Promise((done) => setTimeout(done, 20)); return { raw: args.sizes }; };',
    );
    const sizes = ids.map((each) => `{{ ${each} | size }}`);
    const held = () => Number(/^strongroom_large_bytes_held (\d+)$/m.exec(app.metrics.render())?.[1]);
    const busy = () => Number(/^strongroom_sandbox_instances_busy (\d+)$/m.exec(app.metrics.render())?.[1]);
    let most = 0;
    const running = react(id, { sizes, untilMs: Date.now() + 3_000 }, own.key);
    await eventually('room was taken, and given back while the code runs', () => {
      most = Math.max(most, held());
      return most > 0 && held() === 0 && busy() === 1;
    });
    assert.deepEqual((await running).json.raw, [900_000, 900_000, 900_000, 900_000]);
  });

  it('no call of its client is larger than one over the wire', async () => {
    const own = await app.makeApplication(tenant.id, 'private', [], [REVEALS]);
    const id = await make(client(`req.client.tokens.create({ data: 'x'.repeat(2e6) })`), own.id);
    assert.equal((await react(id)).json.raw, 413);
    for (let made = 0; made < 11; made += 1) {
      const large = { data: 'x'.repeat(1_000_000), containers: ['/large/'] };
      assert.equal((await app.call('POST', '/tokens', { key: own.key, body: large })).status, 201);
    }
    const list = (size: number) =>
      client(`req.client.tokens.list({ container: '/large/', size: ${size} }).then((page) => page.data.length)`);
    assert.equal((await react(await make(list(3), own.id))).json.raw, 3);
    assert.equal((await react(await make(list(100), own.id))).json.raw, 413);
  });

  it('rights that were altered in the database open nothing', async () => {
    const own = await app.makeApplication(tenant.id, 'private', ['token:create']);
    const id = await make(client(`req.client.tokens.create({ data: 'x' }).then(() => 201)`), own.id);
    await app.db.owner.query(`UPDATE applications SET permissions = permissions || '{token:read}' WHERE id = $1`, [
      own.id,
    ]);
    const ran = await react(id);
    assert.deepEqual([ran.status, ran.json.code], [503, 'storage_unavailable']);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes(own.id)));
  });

  it('nothing that code sends makes it somebody else', async () => {
    const own = await app.makeApplication(tenant.id, 'private', [], [REVEALS]);
    const other = await app.makeTenant();
    const stranger = await app.makeKey(other.id, 'private', [], [REVEALS]);
    const foreign = (await app.call('POST', '/tokens', { key: stranger, body: { data: 'foreign' } })).json.id;
    const calls = [
      `req.client.tokens.get('${foreign}')`,
      `req.client.request('GET', '/tokens/${foreign}?key=${stranger}')`,
      `req.client.request('GET', '//x/tokens/${foreign}')`,
      `req.client.request('GET', '/../tokens/${foreign}')`,
      `req.client.request('GET', '/logs')`,
      `req.client.request('GET', '/applications/key')`,
      `req.client.request('POST', '/sessions/authorize', { nonce: 'x' })`,
      `req.client.request('GET', '/readyz')`,
      `req.client.request('DELETE', '/tenants/self')`,
    ];
    for (const call of calls) {
      assert.equal((await react(await make(client(call), own.id))).json.raw, 404, call);
    }
    const detokenized = await react(await make(client(`req.client.detokenize('{{ ${foreign} }}')`), own.id));
    assert.equal(detokenized.json.raw, 400);
  });

  it('a session runs code with the rights it was given, and none behind its end', async () => {
    const shop = await app.makeKey(tenant.id, 'public', ['token:create']);
    const backend = await app.makeKey(tenant.id, 'private', [], [REVEALS]);
    const token = (await app.call('POST', '/tokens', { key: backend, body: { data: 'given' } })).json.id;
    const session = (await app.call('POST', '/sessions', { key: shop })).json;
    const grant = { nonce: session.nonce, permissions: ['token:use'] };
    assert.equal((await app.call('POST', '/sessions/authorize', { key: backend, body: grant })).status, 200);
    const id = await make('module.exports = async ({ args }) => ({ raw: args.value });');
    const ran = await react(id, { value: `{{ ${token} }}` }, session.session_key);
    assert.deepEqual([ran.status, ran.json.raw], [200, 'given']);
    const { rows } = await app.db.owner.query(
      `SELECT actor_type, actor_id FROM logs WHERE entity_id = $1 AND message = 'Reactor invoked'`,
      [id],
    );
    assert.deepEqual(rows, [{ actor_type: 'session', actor_id: session.id }]);
    assert.equal((await app.call('DELETE', `/sessions/${session.id}`, { key: shop })).status, 204);
    assert.equal((await react(id, {}, session.session_key)).status, 401);
  });

  it('a change of code or configuration counts from the next call on', async () => {
    const id = await make('module.exports = async (req) => ({ raw: ["one", req.configuration.A ?? null] });');
    assert.deepEqual((await react(id)).json.raw, ['one', null]);
    await app.call('PATCH', `/reactors/${id}`, { key: tenant.key, body: { configuration: { A: 'a' } } });
    assert.deepEqual((await react(id)).json.raw, ['one', 'a']);
    const code = 'module.exports = async (req) => ({ raw: ["two", req.configuration.A ?? null] });';
    await app.call('PATCH', `/reactors/${id}`, { key: tenant.key, body: { code } });
    assert.deepEqual((await react(id)).json.raw, ['two', 'a']);
    const { rows } = await app.db.owner.query(
      `SELECT entity_version FROM logs WHERE entity_id = $1 AND operation = 'use' ORDER BY created_at, id`,
      [id],
    );
    assert.deepEqual(
      rows.map((row) => row.entity_version),
      [1, 2, 3],
    );
    assert.equal((await app.call('DELETE', `/reactors/${id}`, { key: tenant.key })).status, 204);
    assert.equal((await react(id)).status, 404);
  });

  it('without a log there is no run: 503, and the code has nothing', async () => {
    const reader = await app.makeKey(tenant.id, 'private', [], [REVEALS]);
    const token = (await app.call('POST', '/tokens', { key: reader, body: { data: 'unlogged' } })).json.id;
    const id = await make('let runs = 0; module.exports = async () => ({ raw: (runs += 1) });');
    assert.equal((await react(id)).json.raw, 1);
    await app.db.owner.query(
      `ALTER TABLE logs ADD CONSTRAINT no_use CHECK (message <> 'Token used in reactor') NOT VALID`,
    );
    const refused = await react(id, { value: `{{ ${token} }}` });
    await app.db.owner.query('ALTER TABLE logs DROP CONSTRAINT no_use');
    assert.deepEqual([refused.status, refused.json.code], [503, 'storage_unavailable']);
    assert.equal((await react(id)).json.raw, 2, 'it was not run');
    await app.db.owner.query(`ALTER TABLE logs ADD CONSTRAINT no_run CHECK (message <> 'Reactor invoked') NOT VALID`);
    const unanswered = await react(id);
    await app.db.owner.query('ALTER TABLE logs DROP CONSTRAINT no_run');
    assert.deepEqual([unanswered.status, unanswered.text.includes('raw')], [503, false]);
  });
});
