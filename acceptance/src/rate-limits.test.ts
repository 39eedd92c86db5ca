import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Call } from './client.js';
import { assertProblem, createClient } from './client.js';
import type { StartedServer } from './started-server.js';
import { startServer } from './started-server.js';

const GLOBAL_MAX = 1_000;
/** Bounds a hang, not the speed of a machine that others use too. */
const HANGS_MS = 60_000;
const AT_ONCE = 50;
const isForeign = process.env.ACCEPTANCE_BASE_URL ? 'it would block this address on a server others use' : false;

describe('rate limits', { skip: isForeign }, () => {
  let server: StartedServer;
  let call: Call;
  before(async () => {
    server = await startServer();
    call = createClient(server.baseUrl);
  });
  after(() => server.stop());

  it('429 with the time to wait for request 1001 of one address in ten seconds, and for those after it', async () => {
    const startedMs = performance.now();
    const burst = () => Promise.all(Array.from({ length: AT_ONCE }, () => call('GET', '/healthz')));
    for (let sent = 0; sent < GLOBAL_MAX; sent += AT_ONCE) {
      assert.ok(
        (await burst()).every(({ status }) => status === 200),
        `after ${sent}`,
      );
    }
    // Where this took longer than the ten seconds, the first of them count no more, and there is room for a few others.
    while (performance.now() - startedMs > 9_900 && (await burst()).every(({ status }) => status === 200)) {
      assert.ok(performance.now() - startedMs < HANGS_MS, 'this machine can send a thousand requests in ten seconds');
    }
    for (const path of ['/healthz', '/tenants/self', '/nothing']) {
      const refused = await call('GET', path);
      assertProblem(refused, 429, 'rate_limited');
      const seconds = Number(refused.headers.get('retry-after'));
      assert.ok(Number.isInteger(seconds) && seconds >= 1 && seconds <= 10);
      assert.equal(refused.headers.get('ratelimit-policy'), '"global";q=1000;w=10');
      assert.equal(refused.headers.get('ratelimit'), `"global";r=0;t=${seconds}`);
    }
  });
});
