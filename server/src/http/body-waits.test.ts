import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../testing/eventually.js';
import type { TestApp } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';

const IN_FLIGHT_MAX = 5;

describe('bodies that are held back', () => {
  let app: TestApp;
  let key: string;
  const held: Socket[] = [];
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_REQUESTS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX) } });
    key = (await app.makeTenant()).key;
    // From here on the key is remembered, so that looking it up takes no place.
    assert.equal((await app.call('GET', '/permissions', { key })).status, 200);
  });
  after(async () => {
    for (const socket of held) socket.destroy();
    await app.close();
  });

  /** A change whose body never comes; resolves with the first line of an answer, if there is one. */
  function hold(): { readonly firstLine: () => string } {
    let text = '';
    const socket = connect(app.port, '127.0.0.1', () => {
      const head = ['PUT /tenants/self HTTP/1.1', 'Host: x', `SVC-API-KEY: ${key}`, 'Content-Type: application/json'];
      socket.write(`${head.join('\r\n')}\r\nContent-Length: 1000\r\n\r\n{`);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    held.push(socket);
    return { firstLine: () => text.split('\r\n')[0] ?? '' };
  }

  it('200 for everybody else while more bodies are held back than requests may be in flight', async () => {
    const slow = Array.from({ length: IN_FLIGHT_MAX * 2 }, hold);
    assert.equal((await app.call('GET', '/tenants/self', { key })).status, 200);
    const updated = await app.call('PUT', '/tenants/self', { key, body: { name: 'Served meanwhile' } });
    assert.equal(updated.status, 200);
    assert.deepEqual(new Set(slow.map(({ firstLine }) => firstLine())), new Set(['']));
  });

  it('503 for the body too many, and 200 for the probes', async () => {
    const more = Array.from({ length: IN_FLIGHT_MAX * 4 }, hold);
    await eventually('some are refused', async () => more.some(({ firstLine }) => firstLine().includes(' 503 ')));
    for (const path of ['/healthz', '/readyz']) assert.equal((await app.call('GET', path)).status, 200, path);
    for (const socket of held.splice(0)) socket.destroy();
    await eventually('the next change is served', async () => {
      const { status } = await app.call('PUT', '/tenants/self', { key, body: { name: 'Served again' } });
      return status === 200;
    });
  });

  it('503 for bodies that are held back at their last byte, once they hold too much; 200 again when they are gone', async () => {
    const bytes = 1_000_000;
    const head = ['PUT /tenants/self HTTP/1.1', 'Host: x', `SVC-API-KEY: ${key}`, 'Content-Type: application/json'];
    const text = `${head.join('\r\n')}\r\nContent-Length: ${bytes + 1}\r\n\r\n${' '.repeat(bytes)}`;
    const refused: string[] = [];
    for (let sent = 0; sent < 18; sent += 1) {
      const socket = connect(app.port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => refused.push(chunk.toString('latin1')));
      socket.on('error', () => {});
      held.push(socket);
    }
    await eventually('those past 16 MiB are refused', async () => refused.length === 2);
    for (const answer of refused) assert.match(answer, /^HTTP\/1\.1 503 /);
    assert.equal((await app.call('PUT', '/tenants/self', { key, body: { name: 'Small' } })).status, 200);
    for (const socket of held.splice(0)) socket.destroy();
    await eventually('a large body is read again', async () => {
      const { status } = await app.call('PUT', '/tenants/self', { key, raw: `{"name":"Large"${' '.repeat(bytes)}}` });
      return status === 200;
    });
  });

  it('a stop does not wait for ever for a body that never comes', async () => {
    const stopping = await startTestApp();
    const { key: own } = await stopping.makeTenant();
    const socket = connect(stopping.port, '127.0.0.1', () => {
      const head = ['PUT /tenants/self HTTP/1.1', 'Host: x', `SVC-API-KEY: ${own}`, 'Content-Type: application/json'];
      socket.write(`${head.join('\r\n')}\r\nContent-Length: 1000\r\n\r\n{`);
    });
    socket.on('error', () => {});
    held.push(socket);
    await eventually('the request has arrived', async () => socket.bytesWritten > 0);
    const startedMs = performance.now();
    await stopping.close();
    assert.ok(performance.now() - startedMs < 20_000, 'it ends well before a supervisor loses patience');
  });
});
