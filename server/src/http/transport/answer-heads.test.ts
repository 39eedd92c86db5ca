import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

/** What a server says on one connection, until it closes it. */
function talk(port: number, sent: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    let heard = '';
    socket.setEncoding('latin1').on('data', (text) => {
      heard += text;
    });
    socket.once('end', () => resolve(heard)).once('error', reject);
  });
}

function headOf(heard: string): string {
  return heard.slice(0, heard.indexOf('\r\n\r\n'));
}

describe('the heads of answers', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp();
    ({ key } = await app.makeTenant());
  });
  after(() => app.close());

  const ask = (method: string, more = '', version = '1.1'): string =>
    `${method} /tenants/self HTTP/${version}\r\nHost: h\r\nSVC-API-KEY: ${key}\r\nSVC-TRACE-ID: t-1\r\n${more}\r\n`;
  const LAST = 'Connection: close\r\n';

  it('are the same for GET and HEAD, byte for byte', async () => {
    const whole = headOf(await talk(app.port, ask('GET') + ask('GET', LAST)));
    const bare = headOf(await talk(app.port, ask('HEAD') + ask('HEAD', LAST)));
    const withoutDate = (head: string): string => head.replace(/Date: [^\r]+ GMT/, 'Date: one');
    assert.match(whole, /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT(\r\n|$)/);
    assert.equal(withoutDate(whole), withoutDate(bare));
    assert.match(whole, /^HTTP\/1\.1 200 OK\r\nSVC-TRACE-ID: t-1\r\n/);
    assert.match(whole, /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72$/);
  });

  it('keep their order, and their lengths are right, when requests arrive in one packet', async () => {
    const heard = await talk(app.port, ask('GET').repeat(5) + ask('HEAD') + ask('GET', LAST));
    const statuses: string[] = [];
    let rest = heard;
    for (const method of ['GET', 'GET', 'GET', 'GET', 'GET', 'HEAD', 'GET']) {
      const head = headOf(rest);
      const length = method === 'HEAD' ? 0 : Number(/Content-Length: (\d+)/.exec(head)?.[1]);
      const body = rest.slice(head.length + 4, head.length + 4 + length);
      if (method === 'GET') assert.equal(JSON.parse(body).name, 'Tenant under test');
      statuses.push(head.slice(0, head.indexOf('\r\n')));
      rest = rest.slice(head.length + 4 + length);
    }
    assert.deepEqual(statuses, Array(7).fill('HTTP/1.1 200 OK'));
    assert.equal(rest, '');
  });

  it('end the connection where the client wants it', async () => {
    for (const sent of [ask('GET', LAST), ask('GET', '', '1.0')]) {
      const heard = await talk(app.port, sent);
      assert.match(headOf(heard), /\r\nConnection: close/);
      assert.doesNotMatch(headOf(heard), /Keep-Alive/);
    }
  });

  it('say once whether the connection stays, whichever way they take', async () => {
    const kept = [ask('GET'), ask('HEAD'), ask('OPTIONS'), ask('TRACE'), ask('GET', 'Accept: none\r\n')];
    const closing = [ask('GET', 'Content-Type: a/b\r\nContent-Type: a/b\r\n'), ask('GET', `SVC-API-KEY: ${key}\r\n`)];
    const saidIn = (heard: string): string[] =>
      headOf(heard)
        .split('\r\n')
        .filter((line) => /^(connection|keep-alive):/i.test(line));
    for (const sent of kept) {
      const heard = await talk(app.port, sent + ask('GET', LAST));
      assert.deepEqual(saidIn(heard), ['Connection: keep-alive', 'Keep-Alive: timeout=72'], sent);
    }
    for (const sent of closing) {
      const heard = await talk(app.port, sent + ask('GET', LAST));
      assert.match(heard, /^HTTP\/1\.1 400 /);
      assert.deepEqual(saidIn(heard), ['Connection: close'], sent);
    }
  });

  it('say it also when a client sends the name of that header as a value that is given back', async () => {
    const traced = 'SVC-TRACE-ID: Connection\r\n';
    const preflight = 'Access-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: Connection\r\n';
    for (const sent of [ask('TRACE', traced), ask('OPTIONS', preflight)]) {
      const heard = await talk(app.port, sent.replace('SVC-TRACE-ID: t-1\r\n', '') + ask('GET', LAST));
      assert.match(headOf(heard), /: Connection\r\n/);
      assert.match(headOf(heard), /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72(\r\n|$)/);
    }
    const unsent = `POST /nothing HTTP/1.1\r\nHost: h\r\n${traced}Content-Length: 9\r\n\r\n`;
    assert.match(headOf(await talk(app.port, unsent)), /\r\nConnection: close\r\n/);
  });

  it('end the connection where a body was announced, not asked for and not sent: what follows is no body', async () => {
    const expecting = 'Content-Length: 48\r\nExpect: 100-continue\r\n';
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE']) {
      const socket = connect(app.port, '127.0.0.1', () => socket.write(ask(method, expecting)));
      const [head]: Buffer[] = await once(socket, 'data');
      socket.destroy();
      assert.match(String(head), /^HTTP\/1\.1 (200|204|405) [\s\S]*\r\nConnection: close\r\n/, method);
    }
  });

  it('keep the connection where the body was asked for and came', async () => {
    const body = '{"name":"Asked for"}';
    const more = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n`;
    const heard = await talk(app.port, ask('PUT', more) + body + ask('GET', LAST));
    assert.match(heard, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    assert.match(heard, /\r\nConnection: keep-alive\r\n[\s\S]*"name":"Asked for"[\s\S]*HTTP\/1\.1 200 OK\r\n/);
    await app.call('PUT', '/tenants/self', { key, body: { name: 'Tenant under test' } });
  });

  it('keep every character that is not ASCII', async () => {
    const name = 'Zoë’s 金庫 🗝';
    assert.equal((await app.call('PUT', '/tenants/self', { key, body: { name } })).status, 200);
    const heard = await talk(app.port, ask('GET') + ask('GET', LAST));
    const texts = Buffer.from(heard, 'latin1')
      .toString('utf8')
      .match(/"name":"([^"]+)"/g);
    assert.deepEqual(texts, Array(2).fill(`"name":"${name}"`));
  });
});
