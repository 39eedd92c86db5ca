import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const TENANTS = 2;
const EACH = 6;
const PAST_FREE_BYTES = 70_000;

describe('bodies that come slowly', () => {
  let destination: TestDestination;
  let app: TestApp;
  let key: string;
  const keys: string[] = [];
  const sockets: Socket[] = [];
  before(async () => {
    destination = await startDestination();
    app = await startTestApp({ env: destination.env });
    key = await app.makeKey((await app.makeTenant()).id, 'private', ['token:use']);
    for (let count = 0; count < TENANTS; count += 1) {
      const tenant = await app.makeTenant('Slow');
      const code = 'module.exports = async () => ({})';
      const body = { name: 'P', destination_url: destination.named, require_auth: false, response_transform: { code } };
      keys.push((await app.call('POST', '/proxies', { key: tenant.key, body })).json.key);
    }
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  /** Has every other tenant send the same, and waits until all of it has left. */
  async function flood(text: (proxy: string) => string): Promise<void> {
    for (const proxy of keys) {
      for (let count = 0; count < EACH; count += 1) {
        const socket = connect(app.port, '127.0.0.1');
        socket.on('error', () => {});
        sockets.push(socket);
        await new Promise((resolve) => socket.write(text(proxy), resolve));
      }
    }
  }
  const victim = () =>
    app.call('POST', '/proxy/x', {
      key,
      body: { text: 'x'.repeat(100_000) },
      headers: { 'SVC-PROXY-URL': destination.url },
    });

  it('200 for another tenant while two hold back the rest of their requests', async () => {
    await flood((proxy) =>
      [
        ...['POST /proxy/x HTTP/1.1', 'Host: h', `SVC-PROXY-KEY: ${proxy}`, 'Content-Type: text/plain'],
        ...['Content-Length: 200000', '', 'a'.repeat(PAST_FREE_BYTES)],
      ].join('\r\n'),
    );
    // They are read in the turns that these take.
    for (let count = 0; count < 20; count += 1) await app.call('GET', '/proxies', { key });
    assert.equal((await victim()).status, 200);
  });

  it('200 for another tenant while the destinations of two hold back the rest of their answers to code', async () => {
    let begun = 0;
    destination.answers.set('/trickle', (response) => {
      response.writeHead(200);
      response.write('a'.repeat(PAST_FREE_BYTES), () => {
        begun += 1;
      });
    });
    await flood((proxy) => ['GET /proxy/trickle HTTP/1.1', 'Host: h', `SVC-PROXY-KEY: ${proxy}`, '', ''].join('\r\n'));
    await eventually('all have begun', () => begun === TENANTS * EACH);
    for (let count = 0; count < 20; count += 1) await app.call('GET', '/proxies', { key });
    assert.equal((await victim()).status, 200);
  });
});
