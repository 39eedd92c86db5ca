import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { dialTcp } from './connect.js';
import { bodyText, listening, rawServer, wayOut } from './outbound-fixture.js';

describe('several addresses of one destination', () => {
  it('are tried in their order until one takes the connection', async () => {
    const server = await listening(createServer());
    const socket = dialTcp({
      addresses: [
        { address: '127.0.0.3', family: 4 },
        { address: '127.0.0.2', family: 4 },
        { address: '127.0.0.1', family: 4 },
      ],
      port: server.port,
    });
    await once(socket, 'connect');
    assert.equal(socket.remoteAddress, '127.0.0.1');
    socket.destroy();
    await server.close();
  });

  it('are all judged and eight are tried, IPv4 before IPv6', async () => {
    const server = await rawServer((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'));
    const hosts = Array.from({ length: 20 }, (_, index) => `127.0.1.${index + 1}`);
    const way = wayOut({
      allow: [`http://127.0.0.0/8:${server.port}`, `http://[::1]:${server.port}`],
      names: { 'many.test': ['::1', '127.0.0.1', ...hosts] },
      dial: (target) => {
        tried.push(...target.addresses.map(({ address }) => address));
        return dialTcp(target);
      },
    });
    const tried: string[] = [];
    assert.equal(await bodyText(await way.get(`http://many.test:${server.port}/`)), 'ok');
    assert.deepEqual(tried, ['127.0.0.1', ...hosts.slice(0, 7)]);
    await way.close();
    await server.close();
  });
});
