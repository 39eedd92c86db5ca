// needs: time

import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

/** Supervisors kill after thirty seconds. */
const SUPERVISOR_MS = 30_000;

const IN_FLIGHT_MAX = 10;

describe('bodies that are held back', () => {
  let app: TestApp;
  let key: string;
  let keys: string[];
  const held: Socket[] = [];
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_REQUESTS_IN_FLIGHT_MAX: String(IN_FLIGHT_MAX) } });
    keys = [];
    for (let made = 0; made < 5; made += 1) keys.push((await app.makeTenant()).key);
    key = keys[0] ?? '';
    // From here on the keys are remembered, so that looking them up takes no place.
    for (const own of keys) assert.equal((await app.call('GET', '/permissions', { key: own })).status, 200);
  });
  after(async () => {
    for (const socket of held) socket.destroy();
    await app.close();
  });

  /** A change whose body never comes to its end. */
  function hold(own: string, sent = '{', length = 1_000): { readonly firstLine: () => string } {
    let text = '';
    const socket = connect(app.port, '127.0.0.1', () => {
      const head = ['PUT /tenants/self HTTP/1.1', 'Host: x', `SVC-API-KEY: ${own}`, 'Content-Type: application/json'];
      socket.write(`${head.join('\r\n')}\r\nContent-Length: ${length}\r\n\r\n${sent}`);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => {});
    held.push(socket);
    return { firstLine: () => text.split('\r\n')[0] ?? '' };
  }
  const refusedOf = (asked: readonly ReturnType<typeof hold>[]): number =>
    asked.filter(({ firstLine }) => firstLine().includes(' 503 ')).length;
  const bodiesWaiting = (): number =>
    Number(/^strongroom_http_bodies_waiting (\d+)$/m.exec(app.metrics.render())?.[1] ?? Number.NaN);

  it('200 for everybody else while more bodies are held back than requests may be in flight', async () => {
    const slow: ReturnType<typeof hold>[] = [];
    for (const own of [...keys, ...keys, ...keys]) {
      slow.push(hold(own));
      await eventually('it is waited for', () => bodiesWaiting() === slow.length);
    }
    assert.ok(slow.length > IN_FLIGHT_MAX);
    assert.equal((await app.call('GET', '/tenants/self', { key })).status, 200);
    const updated = await app.call('PUT', '/tenants/self', { key, body: { name: 'Served meanwhile' } });
    assert.equal(updated.status, 200);
    assert.deepEqual(new Set(slow.map(({ firstLine }) => firstLine())), new Set(['']));
  });

  it('503 for a tenant that holds back a quarter of all bodies, and 200 for the others', async () => {
    const [own = '', other = ''] = keys;
    const more = Array.from({ length: IN_FLIGHT_MAX * 4 }, () => hold(own));
    await eventually('those past a quarter are refused', () => refusedOf(more) === IN_FLIGHT_MAX * 3 + 3);
    assert.equal((await app.call('PUT', '/tenants/self', { key: own, body: { name: 'Slow' } })).status, 503);
    assert.equal((await app.call('PUT', '/tenants/self', { key: other, body: { name: 'Quick' } })).status, 200);
  });

  it('503 for the body too many, and 200 for the probes', async () => {
    const more = Array.from({ length: IN_FLIGHT_MAX }, () => keys.map((own) => hold(own))).flat();
    await eventually('some are refused', () => refusedOf(more) > 0);
    for (const path of ['/healthz', '/readyz']) assert.equal((await app.call('GET', path)).status, 200, path);
    for (const socket of held.splice(0)) socket.destroy();
    await eventually('the next change is served', async () => {
      const { status } = await app.call('PUT', '/tenants/self', { key, body: { name: 'Served again' } });
      return status === 200;
    });
  });

  it('503 for bodies that are held back at their last byte, once they hold too much; 200 again when they are gone', async () => {
    const bytes = 1_000_000;
    const text = ' '.repeat(bytes);
    const own = Array.from({ length: 9 }, () => hold(key, text, bytes + 1));
    await eventually('those of a tenant past 8 MiB are refused', () => refusedOf(own) === 1);
    const others = keys.slice(1, 3).flatMap((other) => [1, 2, 3, 4, 5].map(() => hold(other, text, bytes + 1)));
    await eventually('those of an address past 16 MiB are refused', () => refusedOf(others) === 2);
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
    assert.ok(performance.now() - startedMs < SUPERVISOR_MS, 'it ends before a supervisor kills it');
  });
});
