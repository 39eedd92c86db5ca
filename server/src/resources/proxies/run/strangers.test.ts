import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

/** Of the process: 64 streams, 16 of one tenant, 8 of those for strangers. */
const IN_FLIGHT_MAX = 16;
const STRANGERS_MAX = 8;
/** Of one destination of a tenant. Strangers have half. */
const PLACES = 4;

describe('what strangers take of a tenant', () => {
  let destination: TestDestination;
  let app: TestApp;
  const sent: ClientRequest[] = [];
  let open = 0;
  before(async () => {
    destination = await startDestination();
    destination.answers.set('/endless', (response) => {
      open += 1;
      response.once('close', () => {
        open -= 1;
      });
      response.write('first');
    });
  });
  afterEach(async () => {
    for (const each of sent.splice(0)) each.destroy();
    await eventually('the destination is left', () => open === 0);
    await app.close();
  });
  after(() => destination.close());

  async function start(env: Readonly<Record<string, string>>): Promise<void> {
    app = await startTestApp({ env: { ...destination.env, ...env } });
  }
  async function makeOpen(tenant: TestTenant): Promise<string> {
    const body = { name: 'Open', destination_url: destination.named, require_auth: false };
    return (await app.call('POST', '/proxies', { key: tenant.key, body })).json.key;
  }
  function begin(path: string, proxy: string, key?: string): ClientRequest {
    const headers = { 'SVC-PROXY-KEY': proxy, ...(key !== undefined && { 'SVC-API-KEY': key }) };
    const asked = request({ host: '127.0.0.1', port: app.port, path: `/proxy${path}`, headers, agent: false }).end();
    asked.on('error', () => {});
    sent.push(asked);
    return asked;
  }
  function waiting(): number {
    const [, value] = /^strongroom_outbound_requests_waiting (\d+)$/m.exec(app.metrics.render()) ?? [];
    return Number(value);
  }
  async function statusOf(asked: ClientRequest): Promise<number | undefined> {
    const [response]: IncomingMessage[] = await once(asked, 'response');
    return response?.statusCode;
  }
  const call = (proxy: string, key?: string) =>
    app.call('GET', '/proxy/x', { ...(key !== undefined && { key }), headers: { 'SVC-PROXY-KEY': proxy } });

  it('200 for a caller with a key while strangers hold as many places of its destination as they can get', async () => {
    await start({ STRONGROOM_OUTBOUND_REQUESTS_MAX: String(4 * PLACES) });
    const tenant = await app.makeTenant();
    const proxy = await makeOpen(tenant);
    const key = await app.makeKey(tenant.id, 'private', ['token:use']);
    for (let count = 0; count < PLACES; count += 1) begin('/endless', proxy);
    await eventually('each has a place or waits for one', () => open + waiting() === PLACES);
    assert.equal((await call(proxy, key)).status, 200);
    assert.equal(open, PLACES / 2);
  });

  it('503 for more strangers of one tenant than its part, 200 for its own callers and for strangers of another', async () => {
    await start({ STRONGROOM_REQUESTS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX) });
    const [tenant, other] = [await app.makeTenant(), await app.makeTenant('Neighbour')];
    const [proxy, theirs] = [await makeOpen(tenant), await makeOpen(other)];
    const key = await app.makeKey(tenant.id, 'private', ['token:use']);
    for (let count = 0; count < STRANGERS_MAX; count += 1) {
      assert.equal(await statusOf(begin('/endless', proxy)), 200);
    }
    const refused = await call(proxy);
    assert.deepEqual([refused.status, refused.json.proxy_error.code], [503, 'overloaded']);
    assert.equal((await call(theirs)).status, 200);
    for (let count = 0; count < STRANGERS_MAX; count += 1) {
      assert.equal(await statusOf(begin('/endless', proxy, key)), 200);
    }
    assert.equal((await call(proxy, key)).status, 503, 'the part of the tenant is full');
    for (let count = 0; count < STRANGERS_MAX; count += 1) {
      assert.equal(await statusOf(begin('/endless', theirs)), 200);
    }
    for (const each of sent.splice(0)) each.destroy();
    await eventually('what they had is given back', async () => (await call(proxy)).status === 200);
    for (let count = 0; count < STRANGERS_MAX; count += 1) {
      await eventually('each of them', async () => (await statusOf(begin('/endless', proxy))) === 200);
    }
  });
});
