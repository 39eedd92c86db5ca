import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchange, message } from '../../testing/raw-http.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { readsPlainJsonAlone } from './accept.js';

const PROBLEM = 'application/problem+json';
const PLAIN = 'application/json';

/** What clients send, and the type of a refusal that they read. */
const CASES: readonly (readonly [accept: readonly string[], type: string])[] = [
  [[], PROBLEM],
  [['application/json'], PLAIN],
  [['Application/JSON; charset=utf-8'], PLAIN],
  [['application/json, text/plain'], PLAIN],
  [['text/plain', 'application/json'], PLAIN],
  [['application/json;q=0.1'], PLAIN],
  [['application/json;q=0'], PROBLEM],
  [['application/json, */*;q=0'], PLAIN],
  [['application/json, text/plain, */*'], PROBLEM],
  [['application/json, application/*;q=0.1'], PROBLEM],
  [['application/json, application/problem+json'], PROBLEM],
  [['application/json', 'application/problem+json'], PROBLEM],
  [['*/*'], PROBLEM],
  [['text/html'], PROBLEM],
  [['application/jsonx'], PROBLEM],
  [[''], PROBLEM],
];

describe('the type of a refusal', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  for (const [accept, type] of CASES) {
    it(`${type} where a client accepts ${JSON.stringify(accept)}`, () => {
      const raw = ['Host', 'h', ...accept.flatMap((value) => ['ACCEPT', value]), 'X', 'application/json'];
      assert.equal(readsPlainJsonAlone(raw), type === PLAIN);
    });
  }

  it('is application/json for who reads nothing else, with the body of a problem, and with any status', async () => {
    const headers = { Accept: PLAIN };
    for (const [path, status] of [
      ['/tenants/self', 401],
      ['/nothing', 404],
    ] as const) {
      const [plain, problem] = [await app.call('GET', path, { headers }), await app.call('GET', path)];
      assert.deepEqual([plain.status, plain.headers.get('content-type')], [status, PLAIN]);
      assert.deepEqual([problem.status, problem.headers.get('content-type')], [status, PROBLEM]);
      const { trace_id: traceId, ...body } = plain.json;
      assert.equal(traceId, plain.headers.get('svc-trace-id'));
      assert.deepEqual({ ...body, trace_id: problem.json.trace_id }, problem.json);
    }
  });

  it('is application/json also where the parser refuses what such a client sent', async () => {
    const large = `X-Large: ${'x'.repeat(17_000)}`;
    for (const [line, added, status] of [
      ['BREW /nothing', 'X: y', 400],
      ['GET /nothing', 'X : y', 400],
      ['GET /nothing', large, 431],
    ] as const) {
      for (const [accept, type] of [
        [PLAIN, PLAIN],
        ['*/*', PROBLEM],
      ] as const) {
        const sent = message(line, 'Host: strongroom.test', `Accept: ${accept}`, added);
        const [answer] = await exchange(app.port, sent, 1);
        assert.deepEqual([answer?.status, answer?.headers.get('content-type')], [status, type], `${line} ${accept}`);
      }
    }
  });

  it('has the title of its status as HTTP spells it, but for a failed validation; a 401 names the header of the key', async () => {
    const { key } = await app.makeTenant();
    const invalid = await app.call('PUT', '/tenants/self', { key, body: {} });
    const titles = [
      (await app.call('GET', '/nothing')).json.title,
      (await app.call('DELETE', '/permissions', { key })).json.title,
      invalid.json.title,
    ];
    assert.deepEqual(titles, ['Not Found', 'Method Not Allowed', 'Validation Failed']);
    const missing = await app.call('GET', '/tenants/self');
    assert.equal(missing.json.title, 'Unauthorized');
    assert.match(missing.json.detail, /SVC-API-KEY/);
    assert.match((await app.call('GET', '/tenants/self', { key: 'x' })).json.detail, /SVC-API-KEY/);
  });
});
