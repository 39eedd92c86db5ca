import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Answer, Call } from './client.js';
import { assertProblem, createClient } from './client.js';
import type { StartedServer } from './started-server.js';
import { startServer } from './started-server.js';

const GLOBAL_MAX = 1_000;
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
    const answers: Answer[] = [];
    const startedMs = performance.now();
    for (let sent = 0; sent < GLOBAL_MAX; sent += AT_ONCE) {
      answers.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => call('GET', '/healthz')))));
    }
    assert.ok(performance.now() - startedMs < 9_900, 'this machine can send a thousand requests in ten seconds');
    assert.ok(answers.every(({ status }) => status === 200));
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
