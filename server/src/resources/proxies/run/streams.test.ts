import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import type { TestDestination } from './destination-fixture.js';
import { startDestination } from './destination-fixture.js';

const PIECE = Buffer.alloc(65_536, 'x');
const LARGE = 100 * 1_048_576;
/** What the system and the three ends may have under way of one direction. Far less than what is sent. */
const UNDER_WAY_MAX = 32 * 1_048_576;

describe('bodies through a Proxy', () => {
  let destination: TestDestination;
  let app: TestApp;
  let key: string;
  before(async () => {
    destination = await startDestination();
    app = await startTestApp({ env: { ...destination.env, STRONGROOM_PROXY_BODY_BYTES_MAX: String(2 * LARGE) } });
    const tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:use']);
  });
  after(async () => {
    await app.close();
    await destination.close();
  });

  function open(method: string, path: string, headers: Readonly<Record<string, string | number>> = {}): ClientRequest {
    const ours = { 'SVC-API-KEY': key, 'SVC-PROXY-URL': destination.url };
    return request({
      host: '127.0.0.1',
      port: app.port,
      method,
      path: `/proxy${path}`,
      headers: { ...ours, ...headers },
    });
  }
  async function answerOf(asked: ClientRequest): Promise<IncomingMessage> {
    const [response] = await once(asked, 'response');
    return response;
  }
  async function textOf(response: IncomingMessage): Promise<string> {
    const pieces: Buffer[] = [];
    for await (const piece of response) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  }

  it('100 MB come no faster than the client takes them', async () => {
    let produced = 0;
    destination.answers.set('/down', (response: ServerResponse) => {
      response.writeHead(200, { 'Content-Length': LARGE });
      const more = (): void => {
        while (produced < LARGE && response.write(PIECE)) produced += PIECE.length;
        if (produced >= LARGE) response.end();
        else {
          produced += PIECE.length;
          response.once('drain', more);
        }
      };
      more();
    });
    const response = await answerOf(open('GET', '/down').end());
    assert.equal(response.headers['content-length'], String(LARGE));
    let consumed = 0;
    let most = 0;
    for await (const piece of response) {
      consumed += piece.length;
      most = Math.max(most, produced - consumed);
    }
    assert.equal(consumed, LARGE);
    assert.ok(most < UNDER_WAY_MAX, `${most} bytes were under way`);
  });

  it('100 MB go no faster than the destination takes them', async () => {
    let taken = 0;
    destination.unread.set('/up', (response, incoming) => {
      incoming.on('data', (piece: Buffer) => {
        taken += piece.length;
      });
      incoming.on('end', () => response.end(String(taken)));
    });
    const asked = open('PUT', '/up', { 'Content-Type': 'application/octet-stream', 'Content-Length': LARGE });
    let sent = 0;
    let most = 0;
    const answered = answerOf(asked);
    while (sent < LARGE) {
      const isRoom = asked.write(PIECE);
      sent += PIECE.length;
      most = Math.max(most, sent - taken);
      if (!isRoom) await once(asked, 'drain');
    }
    asked.end();
    assert.equal(await textOf(await answered), String(LARGE));
    assert.ok(most < UNDER_WAY_MAX, `${most} bytes were under way`);
  });

  it('a client that leaves ends the request to the destination', async () => {
    let isLeft = false;
    destination.unread.set('/endless', (response) => {
      response.once('close', () => {
        isLeft = true;
      });
      response.write(PIECE);
    });
    const asked = open('GET', '/endless').end();
    const response = await answerOf(asked);
    response.once('error', () => {});
    await once(response, 'data');
    asked.destroy();
    await eventually('the destination is left', () => isLeft);
    let isBegun = false;
    let isUploadLeft = false;
    destination.unread.set('/half', (_response, incoming) => {
      incoming.on('error', () => {});
      incoming.on('data', () => {
        isBegun = true;
      });
      incoming.once('close', () => {
        isUploadLeft = true;
      });
    });
    const half = open('PUT', '/half', { 'Content-Type': 'application/octet-stream' });
    half.on('error', () => {});
    half.write(PIECE);
    await eventually('the destination has the beginning', () => isBegun);
    half.destroy();
    await eventually('the upload is left', () => isUploadLeft);
  });

  it('an answer that comes before the body was sent is handed on', async () => {
    destination.unread.set('/early', (response) => response.writeHead(413, { Connection: 'close' }).end('too much'));
    const asked = open('PUT', '/early', { 'Content-Type': 'application/octet-stream' });
    asked.on('error', () => {});
    const answered = answerOf(asked);
    asked.write(PIECE);
    const response = await answered;
    assert.deepEqual([response.statusCode, await textOf(response)], [413, 'too much']);
    asked.destroy();
  });

  it('what is said before or behind an answer stays away, and a body in chunks is whole', async () => {
    destination.answers.set('/hints', (response) => {
      response.writeEarlyHints({ link: '</x.js>; rel=preload' });
      response.writeHead(200, { Trailer: 'X-Sum' });
      response.write('one ');
      response.addTrailers({ 'X-Sum': '1' });
      response.end('two');
    });
    const asked = open('GET', '/hints');
    let hints = 0;
    asked.on('information', () => {
      hints += 1;
    });
    const response = await answerOf(asked.end());
    assert.equal(await textOf(response), 'one two');
    assert.deepEqual([hints, response.headers.trailer, response.trailers], [0, undefined, {}]);
  });

  it('more than the operator allows is 413', async () => {
    const asked = open('PUT', '/too-much', { 'Content-Type': 'application/octet-stream', 'Content-Length': 3 * LARGE });
    asked.on('error', () => {});
    asked.write(PIECE);
    const response = await answerOf(asked);
    assert.equal(response.statusCode, 413);
    assert.equal(JSON.parse(await textOf(response)).proxy_error.code, 'payload_too_large');
    const text = open('PUT', '/x', { 'Content-Type': 'text/plain' });
    text.on('error', () => {});
    const answered = answerOf(text);
    for (let sent = 0; sent <= 5_242_880; sent += PIECE.length) text.write(PIECE);
    text.end();
    assert.equal((await answered).statusCode, 413);
  });
});
