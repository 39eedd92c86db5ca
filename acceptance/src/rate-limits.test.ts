// needs: processes

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { after, before, describe, it } from 'node:test';
import type { Call } from './client.js';
import { assertProblem, createClient } from './client.js';
import type { StartedServer } from './started-server.js';
import { startServer } from './started-server.js';

const GLOBAL_MAX = 1_000;
const CONNECTIONS = 10;
const REQUESTS_AT_ONCE = 120;
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
    const statuses: number[] = [];
    // Requests are pipelined, so that the server gets far more than the limit within ten seconds. Where it still takes longer, the
    // window moves on, and the next round fills it.
    while (!statuses.includes(429)) {
      const round = await Promise.all(Array.from({ length: CONNECTIONS }, () => sendPipelined(server.baseUrl)));
      statuses.push(...round.flat());
    }
    assert.deepEqual(new Set(statuses), new Set([200, 429]));
    assert.ok(statuses.filter((status) => status === 200).length >= GLOBAL_MAX);
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

/** Sends many requests on one connection without waiting, and returns the statuses of the answers. */
async function sendPipelined(baseUrl: string): Promise<number[]> {
  const { host, hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const request = (connection: string) => `GET /healthz HTTP/1.1\r\nHost: ${host}\r\nConnection: ${connection}\r\n\r\n`;
  socket.write(request('keep-alive').repeat(REQUESTS_AT_ONCE - 1) + request('close'));
  const answers = await text(socket);
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}
