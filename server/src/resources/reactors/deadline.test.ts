// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const DEADLINE_MS = 30_000;
const WAIT_MS = 10_000;
/** For the way there and back on a machine that others use too. */
const SLACK_MS = 20_000;

describe('code that does not come to an end', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_REACTOR_INSTANCES_PER_TENANT_MAX: '1' } });
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:use', 'token:create']);
  });
  after(() => app.close());

  const gauge = (name: string) =>
    Number(new RegExp(`^strongroom_sandbox_${name} (\\d+)$`, 'm').exec(app.metrics.render())?.[1]);
  async function make(code: string): Promise<(args?: object) => ReturnType<TestApp['call']>> {
    const made = await app.call('POST', '/reactors', { key: tenant.key, body: { name: 'r', code } });
    return (args = {}) => app.call('POST', `/reactors/${made.json.id}/react`, { key, body: { args } });
  }

  it('is killed after 30 s and answered 408; who waits for its place for 10 s is answered 503', async () => {
    const hang = await make('module.exports = () => new Promise(() => setInterval(() => {}, 1000));');
    const startedMs = performance.now();
    const hanging = hang();
    await eventually('it runs', () => gauge('instances_busy') === 1);
    const card = { type: 'card_number', data: '4242424242424242' };
    const token = (await app.call('POST', '/tokens', { key, body: card })).json.id;
    const waiting = await hang({ card: `{{ ${token} }}` });
    const used = await app.db.owner.query(`SELECT FROM logs WHERE entity_id = $1 AND operation = 'use'`, [token]);
    assert.equal(used.rowCount, 0, 'a call that finds no place opens no token');
    const waitedMs = performance.now() - startedMs;
    assert.deepEqual([waiting.status, waiting.json.code], [503, 'overloaded']);
    assert.equal(waiting.headers.get('retry-after'), '1');
    assert.ok(waitedMs > WAIT_MS && waitedMs < WAIT_MS + SLACK_MS, `${waitedMs}`);
    const ended = await hanging;
    const tookMs = performance.now() - startedMs;
    assert.deepEqual([ended.status, ended.json.code], [408, 'reactor_timeout']);
    assert.match(ended.json.detail, /30000 ms/);
    assert.ok(tookMs > DEADLINE_MS - 100 && tookMs < DEADLINE_MS + SLACK_MS, `${tookMs}`);
    await eventually('nothing is left of it', () => gauge('instances') === 0);
    const again = await make('module.exports = () => ({ raw: 1 });');
    assert.deepEqual((await again()).json, { raw: 1 });
  });

  it('that ends its own process is answered 500, and the next call runs', async () => {
    const eat = await make(
      'module.exports = async ({ args }) => { const kept = []; while (args.eats) kept.push(new Array(1e6).fill(1.5)); return { raw: 2 }; };',
    );
    const eaten = await eat({ eats: true });
    assert.deepEqual([eaten.status, eaten.json.code], [500, 'reactor_error']);
    assert.deepEqual((await eat()).json, { raw: 2 });
  });
});
