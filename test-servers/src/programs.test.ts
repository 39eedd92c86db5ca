import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { platform } from 'node:os';
import { describe, it } from 'node:test';
import { freePort } from './programs.js';

const OUTGOING_PORTS = '/proc/sys/net/ipv4/ip_local_port_range';

describe('a free port', () => {
  it('is none that an outgoing connection could take', { skip: platform() !== 'linux' }, async () => {
    const [first = 0, last = 0] = readFileSync(OUTGOING_PORTS, 'utf8').trim().split(/\s+/).map(Number);
    assert.ok(first > 0 && last > first);
    for (let i = 0; i < 50; i += 1) {
      const port = await freePort();
      assert.ok(port < first || port > last, `${port} is from ${first} to ${last}`);
    }
  });

  it('can be listened on', async () => {
    const server = createServer().listen(await freePort(), '127.0.0.1');
    await once(server, 'listening');
    await new Promise((resolve) => server.close(resolve));
  });
});
