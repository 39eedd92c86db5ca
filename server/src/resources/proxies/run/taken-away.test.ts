import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const CARD = '4242424242424242';
const LATE_MS = 1_000;

describe('what is taken away while a body without a key is on its way', () => {
  let destination: TestDestination;
  let app: TestApp;
  let clock: FakeClock;
  let tenant: TestTenant;
  let card: string;
  before(async () => {
    destination = await startDestination();
    clock = createFakeClock(Date.UTC(2030, 4, 14, 12));
    app = await startTestApp({ clock, env: destination.env });
    tenant = await app.makeTenant();
    const key = await app.makeKey(tenant.id, 'private', ['token:create']);
    card = (await app.call('POST', '/tokens', { key, body: { type: 'card_number', data: CARD } })).json.id;
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  interface Open {
    readonly id: string;
    readonly key: string;
    readonly applicationId: string;
  }

  async function makeOpen(): Promise<Open> {
    const { id: applicationId } = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const body = {
      ...{ name: 'Open', destination_url: destination.named, require_auth: false },
      application: { id: applicationId },
    };
    const made = await app.call('POST', '/proxies', { key: tenant.key, body });
    assert.equal(made.status, 201, made.text);
    return { ...made.json, applicationId };
  }

  /** Begins a call, lets something happen, and sends the rest a second later by the clock of the service. */
  async function sendAround(path: string, { key }: Open, meanwhile: () => Promise<unknown>): Promise<number> {
    const body = JSON.stringify({ number: `{{ ${card} }}` });
    const headers = { 'SVC-PROXY-KEY': key, 'Content-Type': 'application/json', 'Content-Length': body.length };
    const asked = request({
      ...{ host: '127.0.0.1', port: app.port, path: `/proxy${path}`, method: 'POST' },
      headers: { ...headers, Expect: '100-continue' },
    });
    asked.flushHeaders();
    // The body is asked for when the Proxy was found.
    await once(asked, 'continue');
    asked.write(body.slice(0, 5));
    await meanwhile();
    clock.advance(LATE_MS);
    asked.end(body.slice(5));
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    answer.resume();
    await once(answer, 'end');
    return answer.statusCode ?? 0;
  }
  const manage = (method: string, path: string, body?: object) =>
    app.call(method, path, { key: tenant.key, ...(body && { body }) });

  it('a control: a late body of a Proxy that stayed as it was has its values', async () => {
    assert.equal(await sendAround('/control', await makeOpen(), async () => {}), 200);
    assert.equal(destination.last().body, JSON.stringify({ number: CARD }));
  });

  it('is gone: the Proxy, its key, its openness, its Application', async () => {
    const ways: readonly ((open: Open) => Promise<unknown>)[] = [
      ({ id }) => manage('DELETE', `/proxies/${id}`),
      ({ id }) => manage('POST', `/proxies/${id}/regenerate`),
      ({ id }) => manage('PATCH', `/proxies/${id}`, { require_auth: true }),
      ({ applicationId }) => manage('DELETE', `/applications/${applicationId}`),
    ];
    for (const [n, take] of ways.entries()) {
      const open = await makeOpen();
      const status = await sendAround(`/gone${n}`, open, () => take(open));
      assert.ok(status === 401 || status === 403, `${n}: ${status}`);
      assert.ok(!destination.seen.some(({ url }) => url === `/gone${n}`), `${n} was sent`);
    }
  });
});
