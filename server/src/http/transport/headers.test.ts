import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { generateApiKey } from '../../access/api-key.js';
import type { CallOptions } from '../../testing/http-client.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

/** Health checks and pages. */
const WITHOUT_KEYS = / \/(healthz|docs)$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Sends names exactly as spelt, and a list of values as several lines. */
function ask(port: number, path: string, headers: OutgoingHttpHeaders): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe('response headers', () => {
  let app: TestApp;
  let key: string;
  let reader: string;
  before(async () => {
    app = await startTestApp();
    const tenant = await app.makeTenant();
    key = tenant.key;
    reader = await app.makeKey(tenant.id, 'management', ['tenant:read']);
  });
  after(() => app.close());

  const everyKind = async () => {
    const doomed = await app.makeTenant();
    const calls: [number, string, string, CallOptions][] = [
      [200, 'GET', '/tenants/self', { key }],
      [200, 'GET', '/healthz', {}],
      [200, 'GET', '/docs', {}],
      [204, 'DELETE', '/tenants/self', { key: doomed.key }],
      [204, 'OPTIONS', '/tenants/self', {}],
      [400, 'GET', '/logs?size=0', { key }],
      [400, 'GET', '/%zz', {}],
      [401, 'GET', '/tenants/self', {}],
      [403, 'GET', '/logs', { key: reader }],
      [404, 'GET', '/nothing', {}],
      [405, 'POST', '/tenants/self', {}],
      [415, 'PUT', '/tenants/self', { key, raw: '{}', headers: { 'Content-Type': 'text/plain' } }],
    ];
    return Promise.all(
      calls.map(async ([expected, method, path, options]) => {
        const answer = await app.call(method, path, options);
        assert.equal(answer.status, expected, `${method} ${path}`);
        return { ...answer, title: `${expected} of ${method} ${path}` };
      }),
    );
  };

  it('every answer, good or bad, is not stored, not sniffed and never with credentials', async () => {
    for (const { headers, title } of await everyKind()) {
      assert.equal(headers.get('cache-control'), 'no-store', title);
      assert.equal(headers.get('x-content-type-options'), 'nosniff', title);
      assert.equal(headers.get('access-control-allow-credentials'), null, title);
    }
  });

  it('every answer where keys are used, good or bad, is open to any origin and exposes what a browser may read', async () => {
    const exposed = ['Location', 'RateLimit', 'RateLimit-Policy', 'Retry-After'];
    const expected = [...exposed, 'SVC-PROXY-DESTINATION-STATUS', 'SVC-TRACE-ID'];
    const answers = (await everyKind()).filter(({ title }) => !WITHOUT_KEYS.test(title));
    assert.equal(answers.length, 10);
    for (const { headers, title } of answers) {
      assert.equal(headers.get('access-control-allow-origin'), '*', title);
      const names = headers.get('access-control-expose-headers')?.split(', ') ?? [];
      assert.deepEqual(names.sort(), expected, title);
    }
  });

  it('no answer where no keys are used is open to other origins, nor one under /portal, whatever its status', async () => {
    const paths = [
      '/',
      '/healthz',
      '/readyz',
      '/openapi.json',
      '/docs',
      '/docs/start.js',
      '/portal',
      '/portal/x',
      '/portal/%ff',
    ];
    for (const path of paths) {
      for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
        const asked = { Origin: 'https://shop.test', 'Access-Control-Request-Method': 'GET' };
        const { headers } = await app.call(method, path, { headers: asked });
        const names = [...headers.keys()].filter((name) => name.startsWith('access-control-'));
        assert.deepEqual(names, [], `${method} ${path}`);
      }
    }
  });

  it('every answer has a new trace id when none was sent, and a problem repeats it', async () => {
    const answers = await everyKind();
    for (const { status, headers, json, title } of answers) {
      assert.match(headers.get('svc-trace-id') ?? '', UUID, title);
      if (status >= 400) assert.equal(json.trace_id, headers.get('svc-trace-id'), title);
    }
    assert.equal(new Set(answers.map(({ headers }) => headers.get('svc-trace-id'))).size, answers.length);
  });

  it('echoes a trace id of 1 to 200 visible ASCII characters, on success and on failure', async () => {
    for (const traceId of ['x', '~', 'a/b?c=d&e;"f"\\', 'x'.repeat(200)]) {
      for (const path of ['/healthz', '/nothing', '/tenants/self']) {
        const { headers } = await app.call('GET', path, { headers: { 'SVC-TRACE-ID': traceId } });
        assert.equal(headers.get('svc-trace-id'), traceId);
      }
    }
  });

  it('replaces a trace id that is empty, too long, has a blank or is not ASCII, and one that holds a key', async () => {
    const bad = ['', 'x'.repeat(201), 'a b', 'a\tb', 'caf\u00e9', generateApiKey('management').reveal(), `x${key}`];
    for (const traceId of bad) {
      const { status, headers } = await app.call('GET', '/healthz', { headers: { 'SVC-TRACE-ID': traceId } });
      assert.equal(status, 200);
      assert.match(headers.get('svc-trace-id') ?? '', UUID, JSON.stringify(traceId));
    }
  });

  it('204 to a preflight without a key, with the methods of the route, the headers asked for and ten minutes', async () => {
    const { status, headers, text } = await app.call('OPTIONS', '/tenants/self', {
      headers: {
        Origin: 'https://shop.test',
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'svc-api-key, content-type',
      },
    });
    assert.equal(status, 204);
    assert.equal(text, '');
    assert.equal(headers.get('access-control-allow-methods'), 'GET, HEAD, PUT, DELETE, OPTIONS');
    assert.equal(headers.get('access-control-allow-headers'), 'svc-api-key, content-type');
    assert.equal(headers.get('access-control-max-age'), '600');
    assert.equal(headers.get('access-control-allow-credentials'), null);
  });

  it('204 to a preflight that asks for something that is no header list, without repeating it', async () => {
    const { status, headers } = await app.call('OPTIONS', '/logs/', {
      headers: { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': '<script>"; x' },
    });
    assert.equal(status, 204);
    assert.equal(headers.get('access-control-allow-headers'), null);
  });

  it('204 with every method to a preflight on an unknown path, so that a page can read its 404; not under /portal', async () => {
    const headers = { 'Access-Control-Request-Method': 'GET' };
    const answer = await app.call('OPTIONS', '/nothing', { headers });
    const every = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS';
    assert.deepEqual([answer.status, answer.headers.get('access-control-allow-methods')], [204, every]);
    for (const path of ['/portal', '/portal/', '/portal/nothing']) {
      const { headers: shown } = await app.call('OPTIONS', path, { headers });
      const said = ['access-control-allow-methods', 'access-control-allow-origin'].map((name) => shown.get(name));
      assert.deepEqual(said, [null, null], path);
    }
    assert.equal((await app.call('OPTIONS', '/nothing')).status, 404, 'what is no preflight');
  });

  it('204 with Allow to an OPTIONS that is no preflight', async () => {
    const { status, headers } = await app.call('OPTIONS', '/logs/entity-types');
    assert.equal(status, 204);
    assert.equal(headers.get('allow'), 'GET, HEAD, OPTIONS');
    assert.equal(headers.get('access-control-allow-methods'), null);
  });

  it('405 with Allow for a wrong method, key or no key, on every kind of path', async () => {
    const allowed = { '/tenants/self': 'GET, HEAD, PUT, DELETE, OPTIONS', '/logs/': 'GET, HEAD, OPTIONS' };
    for (const [path, allow] of Object.entries({
      ...allowed,
      '/healthz': 'GET, HEAD, OPTIONS',
      '/docs': 'GET, HEAD, OPTIONS',
    })) {
      for (const options of [{}, { key }]) {
        const { status, headers, json } = await app.call('PATCH', path, options);
        assert.equal(status, 405, path);
        assert.equal(headers.get('allow'), allow, path);
        assert.equal(json.code, 'method_not_allowed');
      }
    }
  });

  it('200 with a trailing slash, also before a query, exactly as without', async () => {
    for (const path of ['/tenants/self', '/permissions', '/logs/entity-types', '/tenants/self/reports/usage']) {
      const [plain, slashed] = await Promise.all([
        app.call('GET', path, { key }),
        app.call('GET', `${path}/`, { key }),
      ]);
      assert.equal(slashed.status, 200, path);
      assert.equal(slashed.text, plain.text, path);
    }
    assert.equal((await app.call('GET', '/logs/?size=5', { key })).json.pagination.page_size, 5);
  });

  it('200 for a percent-encoded spelling of a path, decoded once and no further', async () => {
    assert.equal((await app.call('GET', '/%74enants/%73elf', { key })).status, 200);
    assert.equal((await app.call('GET', '/%2574enants/self', { key })).status, 404);
    assert.equal((await app.call('GET', '/tenants%2Fself', { key })).status, 404);
  });

  it('200 as JSON whatever the client says it accepts', async () => {
    const { status, headers } = await app.call('GET', '/tenants/self', { key, headers: { Accept: 'text/html;q=1' } });
    assert.equal(status, 200);
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
  });

  it('401 when the key comes under a prefix that is not accepted', async () => {
    const { status, json } = await app.call('GET', '/tenants/self', { headers: { 'BT-API-KEY': key } });
    assert.equal(status, 401);
    assert.equal(json.code, 'missing_api_key');
  });
});

describe('header prefixes', () => {
  let app: TestApp;
  let key: string;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_HEADER_PREFIXES: 'bt, Acme' } });
    ({ key } = await app.makeTenant());
  });
  after(() => app.close());

  const get = (headers: Record<string, string>) => app.call('GET', '/permissions', { headers });

  for (const prefix of ['SVC', 'BT', 'ACME']) {
    it(`200 under ${prefix}, and the answer speaks ${prefix} too`, async () => {
      const { status, headers } = await get({ [`${prefix}-API-KEY`]: key, [`${prefix}-TRACE-ID`]: 'mine' });
      assert.equal(status, 200);
      assert.equal(headers.get(`${prefix}-trace-id`), 'mine');
      assert.ok(headers.get('access-control-expose-headers')?.startsWith(`${prefix}-TRACE-ID, ${prefix}-PROXY-`));
      for (const other of ['SVC', 'BT', 'ACME'].filter((name) => name !== prefix)) {
        assert.equal(headers.get(`${other}-trace-id`), null);
      }
    });

    it(`401 under ${prefix} names that header, whether the key is bad or a trace id came alone`, async () => {
      for (const sent of [{ [`${prefix}-API-KEY`]: 'bad' }, { [`${prefix}-TRACE-ID`]: 'mine' }]) {
        const { status, headers } = await get(sent);
        assert.equal(status, 401);
        assert.equal(headers.get('www-authenticate'), `ApiKey realm="strongroom", header="${prefix}-API-KEY"`);
      }
    });

    it(`400 for two keys under ${prefix}`, async () => {
      assert.equal(await ask(app.port, '/permissions', { [`${prefix}-API-KEY`]: [key, key] }), 400);
    });
  }

  it('200 with the name in any case', async () => {
    for (const name of ['bT-aPi-KeY', 'SVC-api-key', 'acme-API-Key']) {
      assert.equal(await ask(app.port, '/permissions', { [name]: key }), 200, name);
    }
  });

  it('speaks SVC to a client that used no prefix', async () => {
    const { headers } = await get({});
    assert.match(headers.get('svc-trace-id') ?? '', UUID);
    assert.equal(headers.get('www-authenticate'), 'ApiKey realm="strongroom", header="SVC-API-KEY"');
  });

  it('of one name under several prefixes SVC wins, then the order of the operator', async () => {
    assert.equal((await get({ 'SVC-API-KEY': key, 'BT-API-KEY': 'bad', 'ACME-API-KEY': 'bad' })).status, 200);
    assert.equal((await get({ 'SVC-API-KEY': 'bad', 'BT-API-KEY': key })).status, 401);
    assert.equal((await get({ 'BT-API-KEY': key, 'ACME-API-KEY': 'bad' })).status, 200);
    assert.equal((await get({ 'BT-API-KEY': 'bad', 'ACME-API-KEY': key })).status, 401);
  });
});
