import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { exchange, message } from '../../testing/raw-http.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const VALUES_MAX = 10_000;
const LARGE_VALUES_MAX = 100_000;

/** JSON with so many values as the server counts them: one, and one for each comma and opening bracket. */
function listOf(values: number): string {
  return `[${'1,'.repeat(values - 2)}1]`;
}

/** Every byte as a chunk of its own. */
function inChunks(text: string, bytes = 1): string {
  let chunks = '';
  for (let at = 0; at < text.length; at += bytes) {
    const piece = text.slice(at, at + bytes);
    chunks += `${piece.length.toString(16)}\r\n${piece}\r\n`;
  }
  return `${chunks}0\r\n\r\n`;
}

describe('bodies that cost more than their length says', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const permissions = ['token:create', 'token:read', 'token:update', 'token:search', 'token:use'];
    key = await app.makeKey(
      tenant.id,
      'private',
      [],
      [{ priority: 1, container: '/', transform: 'reveal', permissions }],
    );
  });
  after(() => app.close());

  const chunked = (line: string): string =>
    message(line, 'Host: h', `SVC-API-KEY: ${key}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked');
  const isServing = async (): Promise<void> => {
    assert.equal((await app.call('GET', '/tokens', { key })).status, 200);
  };

  const ROUTES: readonly (readonly [method: string, path: string, valuesMax: number])[] = [
    ['POST', '/tokens', VALUES_MAX],
    ['PATCH', '/tokens/some-id', VALUES_MAX],
    ['POST', '/tokenize', VALUES_MAX],
    ['POST', '/tokens/search', VALUES_MAX],
    ['POST', '/v2/tokens/search', VALUES_MAX],
    ['POST', '/sessions/authorize', VALUES_MAX],
    ['POST', '/detokenize', LARGE_VALUES_MAX],
    ['POST', '/reactors/some-id/react', LARGE_VALUES_MAX],
  ];
  for (const [method, path, valuesMax] of ROUTES) {
    it(`413 for ${method} ${path} with more than ${valuesMax} values, announced or in chunks`, async () => {
      const by = path.startsWith('/sessions') ? await app.makeKey(tenant.id, 'private', ['token:create']) : key;
      const isOver = async (values: number): Promise<boolean> => {
        const raw = listOf(values);
        const { status, json } = await app.call(method, path, { key: by, raw });
        if (status === 413) assert.match(json.detail, new RegExp(`more than ${valuesMax} values`));
        return status === 413;
      };
      assert.equal(await isOver(valuesMax), false);
      assert.equal(await isOver(valuesMax + 1), true);
      const sent = chunked(`${method} ${path}`) + inChunks(listOf(valuesMax + 1), 8_192);
      const [answer] = await exchange(app.port, sent, 1);
      assert.equal(answer?.status, 413);
      await isServing();
    });
  }

  it('413 for too many values before the body has ended', async () => {
    const head = message('POST /tokens', 'Host: h', `SVC-API-KEY: ${key}`, 'Content-Type: application/json');
    const length = `Content-Length: 1000000\r\n\r\n`;
    const sent = `${head.slice(0, -2)}${length}${listOf(VALUES_MAX + 1).slice(0, -1)}`;
    const [answer] = await exchange(app.port, sent, 1);
    assert.equal(answer?.status, 413);
  });

  for (const line of ['POST /tokens', 'POST /detokenize', 'POST /reactors/some-id/react', 'POST /proxy/x']) {
    it(`400 for ${line} in more than a thousand chunks of one byte`, async () => {
      const ours = line.includes('proxy') ? ['SVC-PROXY-URL: https://127.0.0.1:9'] : [];
      const head = chunked(line).slice(0, -2) + ours.map((header) => `${header}\r\n`).join('');
      const [answer] = await exchange(app.port, `${head}\r\n${inChunks(' '.repeat(50_000))}`, 1);
      assert.equal(answer?.status, 400);
      const { code, proxy_error: proxyError } = JSON.parse(answer.body);
      assert.equal(proxyError?.code ?? code, 'malformed_request');
      assert.equal(answer.headers.get('connection'), 'close');
      await isServing();
    });
  }

  it('201 for a token in a thousand chunks of one byte, and in many chunks of 100', async () => {
    const small = JSON.stringify({ type: 'token', data: 'a'.repeat(900) });
    const large = JSON.stringify({ type: 'token', data: 'a'.repeat(100_000) });
    for (const [text, bytes] of [
      [small, 1],
      [large, 100],
    ] as const) {
      const [answer] = await exchange(app.port, chunked('POST /tokens') + inChunks(text, bytes), 1);
      assert.equal(answer?.status, 201, answer?.body);
      assert.equal(JSON.parse(answer.body).data, JSON.parse(text).data);
    }
  });

  it('413 reaches every client that sends a body far above its limit', async () => {
    const body = Buffer.alloc(12_000_000, ' ');
    const send = async (): Promise<number> => {
      const headers = { 'SVC-API-KEY': key, 'Content-Type': 'application/json' };
      const answer = await fetch(`${app.baseUrl}/tokens`, { method: 'POST', headers, body });
      assert.match(await answer.text(), /"code":"payload_too_large"/);
      return answer.status;
    };
    const statuses = await Promise.all(Array.from({ length: 12 }, send));
    assert.deepEqual(statuses, Array(12).fill(413));
  });

  it('413 reaches clients that announce nothing and write on, and 401 those without a key', async () => {
    const send = (sentKey: string): Promise<number | undefined> =>
      new Promise((resolve, reject) => {
        const headers = { 'SVC-API-KEY': sentKey, 'Content-Type': 'application/json' };
        const sent = request(`${app.baseUrl}/tokens`, { method: 'POST', headers, agent: false }, (response) => {
          response.resume();
          response.once('end', () => resolve(response.statusCode));
        });
        sent.once('error', reject);
        for (let at = 0; at < 100; at += 1) sent.write(Buffer.alloc(100_000, ' '));
        sent.end();
      });
    assert.deepEqual(await Promise.all([key, key, 'key_prv_unknown'].map(send)), [413, 413, 401]);
  });

  it('a client that never ends its body has its answer at once, and is disconnected', async () => {
    const socket = connect({ port: app.port, host: '127.0.0.1' });
    let text = '';
    let isClosed = false;
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
    });
    socket.on('error', () => {});
    socket.once('close', () => {
      isClosed = true;
    });
    socket.write(chunked('POST /tokens'));
    const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`;
    const more = (error?: Error | null): void => {
      if (!error && !isClosed) socket.write(chunk, more);
    };
    more();
    await eventually('it is answered', () => text.startsWith('HTTP/1.1 413'));
    await eventually('it is closed', () => isClosed);
    assert.match(text, /Connection: close/);
    await isServing();
  });
});
