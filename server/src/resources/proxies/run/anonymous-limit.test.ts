import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PROXY_ANONYMOUS } from '../../../limits/catalogue.js';
import type { FakeClock } from '../../../testing/fake-clock.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const NOON_MS = Date.UTC(2030, 4, 14, 12);
const BLOCK_MS = 10_000;

describe('calls without a key', () => {
  let destination: TestDestination;
  let app: TestApp;
  let clock: FakeClock;
  let tenant: TestTenant;
  let caller: string;
  before(async () => {
    destination = await startDestination();
    // It stands still unless told: on a busy machine the calls of a window can take longer than the window.
    clock = createFakeClock(NOON_MS);
    app = await startTestApp({ clock, env: { ...destination.env, STRONGROOM_RATE_LIMITS: 'on' } });
    tenant = await app.makeTenant();
    caller = await app.makeKey(tenant.id, 'private', ['token:use']);
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  async function makeOpen(): Promise<string> {
    const body = { name: 'Open', destination_url: destination.named, require_auth: false };
    return (await app.call('POST', '/proxies', { key: tenant.key, body })).json.key;
  }
  const send = (proxy: string, key?: string) =>
    app.call('GET', '/proxy/x', { ...(key !== undefined && { key }), headers: { 'SVC-PROXY-KEY': proxy } });

  it('429 for more than the limit of one Proxy, 200 with a key, at another Proxy, and later', async () => {
    const [open, other] = [await makeOpen(), await makeOpen()];
    const statuses = new Map<number, number>();
    for (let n = 0; n <= PROXY_ANONYMOUS.requests; n += 1) {
      const { status } = await send(open);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    assert.deepEqual(
      [...statuses],
      [
        [200, PROXY_ANONYMOUS.requests],
        [429, 1],
      ],
    );
    assert.equal((await send(open)).headers.get('ratelimit-policy'), '"proxy-anonymous";q=200;w=10');
    assert.equal((await send(open, caller)).status, 200);
    assert.equal((await send(other)).status, 200);
    clock.advance(2 * BLOCK_MS);
    assert.equal((await send(open)).status, 200);
  });
});
