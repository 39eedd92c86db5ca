import assert from 'node:assert/strict';
import { METHODS } from 'node:http';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { HANGS_MS } from '../../testing/eventually.js';
import type { RawAnswer } from '../../testing/raw-http.js';
import { exchange, message } from '../../testing/raw-http.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const BODY_BYTES_MAX = 1_048_576;

function assertProblem(answer: RawAnswer | undefined, status: number, code: string): void {
  assert.equal(answer?.status, status);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/problem\+json/);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  const { title, detail, trace_id, ...rest } = JSON.parse(answer.body);
  assert.equal(rest.type, `urn:strongroom:problem:${code}`);
  assert.equal(rest.status, status);
  assert.equal(rest.code, code);
  for (const text of [title, detail, trace_id]) assert.match(text, /^\S/);
}

const HOST = 'Host: strongroom.test';
const LAST = 'Connection: close';
const JSON_TYPE = 'Content-Type: application/json';
const NAMED = '{"name":"n"}';

type Bytes = (key: string) => string;
const put = (key: string, ...headers: string[]) =>
  message('PUT /tenants/self', HOST, `SVC-API-KEY: ${key}`, JSON_TYPE, ...headers);
const get = (target: string, ...headers: string[]) => message(`GET ${target}`, HOST, LAST, ...headers);

const asked = (target: string) => (key: string) => get(target, `SVC-API-KEY: ${key}`);
const coded = (...encodings: string[]) => encodings.map((encoding) => `Transfer-Encoding: ${encoding}`);

/** What is sent; the answer is 400 `malformed_request`. */
const MALFORMED: Readonly<Record<string, Bytes>> = {
  'two Host headers': () => get('/healthz', 'Host: other'),
  'the same key twice under two spellings': (key) => get('/permissions', `SVC-API-KEY: ${key}`, `svc-api-key: ${key}`),
  'two Content-Type headers': (key) => put(key, JSON_TYPE, LAST),
  'no Host header': () => message('GET /healthz', LAST),
  'no Host header in HTTP/1.0, but for a probe': () => 'GET /permissions HTTP/1.0\r\n\r\n',
  'an address on another host as target': () => get('http://other.test/healthz'),
  'an address with a user as target': () => get('http://strongroom.test@other.test/healthz'),
  'an address on another port as target': () => get('http://strongroom.test:81/healthz'),
  'an address of another kind as target': () => get('ftp://strongroom.test/healthz'),
  'an address without a host as target': () => get('http:///healthz'),
  'an asterisk as target of a GET': () => message('GET *', HOST, LAST),
  'an invented method': () => message('BREW /healthz', HOST),
  'a method in lower case': () => message('get /healthz', HOST),
  'text that is not HTTP': () => 'hello there\r\n\r\n',
  'a TLS greeting': () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'the HTTP/2 preface': () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'an unknown version': () => `GET /healthz HTTP/9.9\r\n${HOST}\r\n\r\n`,
  'a space in a header name': () => get('/healthz', 'Bad Name: 1'),
  'a control character in a header': () => get('/healthz', 'X: a\x01b'),
  'a folded header': () => get('/healthz', 'X: a', ' b'),
  'bare line feeds': () => `GET /healthz HTTP/1.1\n${HOST}\n\n`,
  'NUL in the path': () => get('/a\x00b'),
  'a raw byte beyond ASCII in the path': () => get('/caf\xe9'),
  'another expectation than 100-continue': () => get('/healthz', 'Expect: weird'),
  'percent-encoding without hex digits in the path': () => get('/tenants/%zz'),
  'percent-encoding cut short in the path': () => get('/tenants/%E0%A4%A'),
  'percent-encoding of no UTF-8 in the path': () => get('/tenants/%FF'),
  'broken percent-encoding in a query value': asked('/logs?entity_id=%zz'),
  'broken percent-encoding in a query name': asked('/logs?%FF=1'),
  'both Transfer-Encoding and Content-Length': (key) =>
    `${put(key, ...coded('chunked'), 'Content-Length: 4')}0\r\n\r\n${get('/healthz')}`,
  'Transfer-Encoding twice': (key) => `${put(key, ...coded('chunked', 'chunked'))}0\r\n\r\n`,
  'a transfer encoding that does not end in chunked': (key) => `${put(key, ...coded('chunked, identity'))}0\r\n\r\n`,
  'a transfer encoding nobody undoes': (key) =>
    `${put(key, ...coded('gzip, chunked'), LAST)}c\r\n${NAMED}\r\n0\r\n\r\n`,
  'two lengths': (key) => `${put(key, 'Content-Length: 12', 'Content-Length: 13')}${NAMED}`,
  'a negative length': (key) => put(key, 'Content-Length: -1'),
  'a length with a sign': (key) => `${put(key, 'Content-Length: +12')}${NAMED}`,
  'a length no number can hold': (key) => put(key, `Content-Length: ${'9'.repeat(30)}`),
  'a chunk size that is none': (key) => `${put(key, ...coded('chunked'))}zz\r\n`,
};

const TOO_LARGE: Readonly<Record<string, Bytes>> = {
  'a chunked body over 1 MiB': (key) =>
    `${put(key, ...coded('chunked'))}100001\r\n${' '.repeat(BODY_BYTES_MAX + 1)}\r\n0\r\n\r\n`,
  'a length over 1 MiB, of which nothing is waited for': (key) => put(key, `Content-Length: ${BODY_BYTES_MAX + 1}`),
};

const HEADERS_TOO_LARGE: Readonly<Record<string, Bytes>> = {
  'one header over 16 KB': () => get('/healthz', `X: ${'x'.repeat(17_000)}`),
  'a target over 16 KB': () => get(`/${'x'.repeat(17_000)}`),
  'a header block of 24 KB made of tiny headers': () => get('/healthz', ...Array<string>(4_000).fill('a: b')),
};

const WRONG_METHOD: Readonly<Record<string, Bytes>> = {
  TRACE: () => message('TRACE /healthz', HOST, LAST),
  CONNECT: () => message('CONNECT strongroom.test:443', HOST),
};

const REFUSED = [
  { status: 400, code: 'malformed_request', rows: MALFORMED },
  { status: 405, code: 'method_not_allowed', rows: WRONG_METHOD },
  { status: 413, code: 'payload_too_large', rows: TOO_LARGE },
  { status: 431, code: 'headers_too_large', rows: HEADERS_TOO_LARGE },
].flatMap(({ rows, ...refusal }) => Object.entries(rows).map(([what, bytes]) => ({ what, bytes, ...refusal })));

describe('hostile requests', () => {
  let app: TestApp;
  let key: string;
  let reader: string;
  let slow: Promise<{ answers: RawAnswer[]; ms: number }>[];
  before(async () => {
    app = await startTestApp();
    const tenant = await app.makeTenant();
    key = tenant.key;
    reader = await app.makeKey(tenant.id, 'management', ['log:read']);
    // These two wait until the server's time limit is over, while the other tests run.
    slow = ['GET /healthz HTTP/1.1\r\nHo', `${put(key, 'Content-Length: 12')}{"na`].map(async (bytes) => {
      const startedMs = performance.now();
      const answers = await exchange(app.port, bytes, undefined, HANGS_MS);
      return { answers, ms: performance.now() - startedMs };
    });
  });
  after(() => app.close());

  for (const { what, status, code, bytes } of REFUSED) {
    it(`${status} ${code} for ${what}, and the next caller is served`, async () => {
      const answers = await exchange(app.port, bytes(key));
      assert.equal(answers.length, 1, 'nothing hides behind the first request');
      assertProblem(answers[0], status, code);
      const [next] = await exchange(app.port, get('/healthz'));
      assert.equal(next?.status, 200);
    });
  }

  it('405 for every method this platform can read and no route has', async () => {
    const served = new Set(['GET', 'HEAD', 'OPTIONS', 'CONNECT']);
    for (const method of METHODS.filter((name) => !served.has(name))) {
      const [answer] = await exchange(app.port, message(`${method} /healthz`, HOST, LAST));
      assert.equal(answer?.status, 405, method);
      assertProblem(answer, 405, 'method_not_allowed');
      assert.equal(answer.headers.get('allow'), 'GET, HEAD, OPTIONS');
    }
  });

  it('400 from the parser has the trace id and the origin header of every other answer', async () => {
    const [answer] = await exchange(app.port, 'hello there\r\n\r\n');
    assert.equal(answer?.headers.get('svc-trace-id'), JSON.parse(answer?.body ?? '{}').trace_id);
    assert.equal(answer?.headers.get('access-control-allow-origin'), '*');
  });

  it('401 and no word to go on for whoever asks first whether to send a body, 100 with a key', async () => {
    const asking = (...more: string[]) =>
      message('PUT /tenants/self', HOST, JSON_TYPE, 'Content-Length: 15', 'Expect: 100-continue', ...more);
    const [refused] = await exchange(app.port, asking(), 1);
    assertProblem(refused, 401, 'missing_api_key');
    const raw = await new Promise<string>((resolve, reject) => {
      let heard = '';
      const socket = connect(app.port, '127.0.0.1', () =>
        socket.write(asking(`SVC-API-KEY: ${key}`, 'Connection: close')),
      );
      socket.setEncoding('latin1');
      socket.once('data', () => socket.write('{"name":"Asked"}'.slice(0, 15)));
      socket.on('data', (text: string) => {
        heard += text;
      });
      socket.once('error', reject);
      socket.once('close', () => resolve(heard));
    });
    assert.match(raw, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('200 with two thousand headers that fit the bound', async () => {
    const [answer] = await exchange(app.port, get('/healthz', ...Array<string>(2_000).fill('a: b')));
    assert.equal(answer?.status, 200);
  });

  it('401, 403, 404 and 405 while the body is withheld: it is not read before the rights are known', async () => {
    const withheld = (line: string, ...more: string[]) => message(line, HOST, JSON_TYPE, 'Content-Length: 12', ...more);
    const line = 'PUT /tenants/self';
    assertProblem((await exchange(app.port, withheld(line), 1))[0], 401, 'missing_api_key');
    const [denied] = await exchange(app.port, withheld(line, `SVC-API-KEY: ${reader}`), 1);
    assertProblem(denied, 403, 'permission_denied');
    assertProblem((await exchange(app.port, withheld('PUT /nothing'), 1))[0], 404, 'not_found');
    assertProblem((await exchange(app.port, withheld('POST /tenants/self'), 1))[0], 405, 'method_not_allowed');
  });

  it('200 for each of several pipelined requests, in their order', async () => {
    const tagged = (id: string) => message('GET /healthz', HOST, `SVC-TRACE-ID: ${id}`);
    const ids = ['first', 'second', 'third'];
    const answers = await exchange(app.port, ids.map(tagged).join(''), ids.length);
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('svc-trace-id')]),
      ids.map((id) => [200, id]),
    );
  });

  it('400 for two hosts is the last answer on its connection', async () => {
    const [refused, ...more] = await exchange(app.port, message('GET /healthz', HOST, HOST) + get('/healthz'));
    assertProblem(refused, 400, 'malformed_request');
    assert.deepEqual(more, []);
  });

  it('401 with a body still to come is the last answer on its connection: no 408 follows', async () => {
    const answers = await exchange(app.port, message('PUT /tenants/self', HOST, JSON_TYPE, 'Content-Length: 12'));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [401],
    );
  });

  it('200 for a change that a CONNECT follows on the same connection', async () => {
    const body = '{"name":"tunnel"}';
    const change = `${put(key, `Content-Length: ${body.length}`)}${body}`;
    const [answer, refused] = await exchange(app.port, `${change}${message('CONNECT strongroom.test:443', HOST)}`);
    assert.equal(answer?.status, 200);
    assertProblem(refused, 405, 'method_not_allowed');
  });

  it('400 at once for a settings object with nine thousand unknown members, of which a few are named', async () => {
    const settings = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [String(index), 1]));
    const { status, json } = await app.call('PUT', '/tenants/self', { key, body: { name: 'a', settings } });
    assert.equal(status, 400);
    assert.ok(Object.keys(json.errors).length <= 20);
  });

  it('200 and the end of the connection for a request to switch protocols', async () => {
    const asked = message('GET /healthz', HOST, 'Connection: Upgrade', 'Upgrade: websocket');
    const answers = await exchange(app.port, asked + get('/healthz'));
    assert.deepEqual(
      answers.map(({ status, headers }) => [status, headers.get('connection')]),
      [[200, 'close']],
    );
  });

  it('200 on a connection that was refused four times before', async () => {
    const requests = [
      message('GET /nothing', HOST),
      message('GET /tenants/self', HOST),
      `${message('PUT /tenants/self', HOST, `SVC-API-KEY: ${key}`, 'Content-Length: 12')}${NAMED}`,
      `${put(key, 'Content-Length: 2')}{}`,
      `${put(key, 'Content-Length: 12')}${NAMED}`,
    ];
    const answers = await exchange(app.port, requests.join(''), requests.length);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404, 401, 415, 400, 200],
    );
  });

  it('200 for a change stays its own answer when rubbish follows on the same connection', async () => {
    const body = '{"name":"followed"}';
    const followed = `${put(key, `Content-Length: ${body.length}`)}${body}rubbish\r\n\r\n`;
    const [answer] = await exchange(app.port, followed);
    assert.equal((await app.call('GET', '/tenants/self', { key })).json.name, 'followed');
    assert.ok(
      answer === undefined || answer.status === 200,
      `the change was made, and answered with ${answer?.status}`,
    );
  });

  it('a body that breaks off is never logged as answered with 200', async () => {
    const broken = put(key, 'Transfer-Encoding: chunked', 'SVC-TRACE-ID: broken-off');
    await exchange(app.port, `${broken}zz\r\n`);
    const deadlineMs = performance.now() + HANGS_MS;
    const isOurs = (line: string) => line.includes('"broken-off"') && line.includes('"status"');
    const lines = () => app.logLines.join('').split('\n').filter(isOurs);
    while (lines().length === 0 && performance.now() < deadlineMs) await new Promise(setImmediate);
    assert.equal(lines().length, 1);
    assert.notEqual(JSON.parse(lines()[0] ?? '{}').status, 200);
  });

  it('HEAD has the status and headers of GET and not a byte of body', async () => {
    for (const target of ['/healthz', '/permissions', '/nothing', '/openapi.json', '/docs']) {
      const ask = (method: string) =>
        message(`${method} ${target}`, HOST, LAST, `SVC-API-KEY: ${key}`, 'SVC-TRACE-ID: t');
      const [full] = await exchange(app.port, ask('GET'));
      const bare = await exchange(app.port, ask('HEAD'), 2);
      assert.equal(bare.length, 0, 'a length is announced and no body follows');
      const { status, headers } = await app.call('HEAD', target, { key, headers: { 'SVC-TRACE-ID': 't' } });
      assert.equal(status, full?.status);
      for (const name of ['content-type', 'content-length', 'svc-trace-id', 'cache-control']) {
        assert.equal(headers.get(name), full?.headers.get(name), `${name} of ${target}`);
      }
    }
  });

  it('never 5xx, whatever is thrown at it', async () => {
    const part = fc.constantFrom(
      'GET',
      'PUT',
      'DELETE',
      '/',
      '/tenants/self',
      '/logs?',
      '%',
      '%00',
      ' ',
      '\t',
      '\0',
      ':',
    );
    const header = fc.constantFrom(
      'Host: a',
      'SVC-API-KEY: x',
      'Content-Length: 5',
      'Transfer-Encoding: chunked',
      'X',
      ':',
    );
    const bytes = fc.record({ line: fc.array(part, { maxLength: 6 }), headers: fc.array(header, { maxLength: 5 }) });
    await fc.assert(
      fc.asyncProperty(bytes, fc.string({ unit: 'binary', maxLength: 20 }), async ({ line, headers }, tail) => {
        const text = `${line.join('')} HTTP/1.1\r\n${headers.join('\r\n')}\r\n${LAST}\r\n\r\n${tail}\r\n\r\n`;
        const [answer] = await exchange(app.port, text, 1, 15_000);
        assert.ok(answer === undefined || answer.status < 500, `${JSON.stringify(text)} got ${answer?.status}`);
      }),
      { numRuns: 150 },
    );
    assert.equal((await app.call('GET', '/healthz')).status, 200);
  });

  it('408 after 10 seconds for headers that never end', async () => {
    const { answers, ms } = (await slow[0]) ?? { answers: [], ms: 0 };
    assertProblem(answers[0], 408, 'request_timeout');
    // Sooner than the limit of a whole request, however busy the machine is.
    assert.ok(ms > 9_500 && ms < 29_500, `${ms} ms`);
  });

  it('408 after 30 seconds for a body that never ends', async () => {
    const { answers, ms } = (await slow[1]) ?? { answers: [], ms: 0 };
    assertProblem(answers[0], 408, 'request_timeout');
    assert.ok(ms > 29_500, `${ms} ms`);
  });
});
