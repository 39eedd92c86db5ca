// needs: engine

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { RuleDraft } from '../../access/check-rules.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const CARD = '4242424242424242';
const MANAGES = ['reactor:create', 'reactor:read', 'reactor:update', 'reactor:delete'];
const TOKENS = ['token:create', 'token:use'];
/** A plain permission to read shows no data. */
const READS: readonly RuleDraft[] = [
  { description: 'reads', priority: 1, container: '/', transform: 'reveal', permissions: ['token:read'] },
];

describe('POST /reactors/{id}/react', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let manager: string;
  let caller: { readonly id: string; readonly key: string };
  let token: string;

  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_HEADER_PREFIXES: 'ACME', STRONGROOM_AUDIT: 'full' } });
    tenant = await app.makeTenant();
    manager = await app.makeKey(tenant.id, 'management', [...MANAGES, 'log:read']);
    caller = await app.makeApplication(tenant.id, 'private', TOKENS, READS);
    const made = await app.call('POST', '/tokens', {
      key: caller.key,
      body: { type: 'card_number', data: CARD },
    });
    token = made.json.id;
  });
  after(() => app.close());

  async function make(code: string, more: object = {}): Promise<string> {
    const made = await app.call('POST', '/reactors', { key: manager, body: { name: 'r', code, ...more } });
    assert.equal(made.status, 201, JSON.stringify(made.json));
    return made.json.id;
  }
  const react = (id: string, body?: unknown, key = caller.key) =>
    app.call('POST', `/reactors/${id}/react`, { key, ...(body !== undefined && { body }) });
  const entriesOf = async (id: string) =>
    (await app.call('GET', `/logs?entity_id=${id}&include=details&size=100`, { key: manager })).json.data;

  it('runs code on the values of tokens, and answers what it returns', async () => {
    const id = await make(
      'module.exports = async (req) => ({ raw: { last: req.args.card.slice(-4), mode: req.configuration.MODE } });',
      { configuration: { MODE: 'live' } },
    );
    const ran = await react(id, { args: { card: `{{ ${token} }}` } });
    assert.deepEqual([ran.status, ran.json], [200, { raw: { last: '4242', mode: 'live' } }]);
    const [invoked] = await entriesOf(id);
    assert.deepEqual(
      [invoked.operation, invoked.message, invoked.outcome, invoked.entity_version, invoked.actor_id],
      ['use', 'Reactor invoked', 'success', 1, caller.id],
    );
    const [used] = await entriesOf(token);
    assert.deepEqual([used.operation, used.message, used.entity_type], ['use', 'Token used in reactor', 'card_number']);
  });

  it('tokenizes what the code wants tokenized, with the rights of the caller', async () => {
    const id = await make('module.exports = async (req) => ({ tokenize: { id: req.args.id }, raw: 1 });');
    const ran = await react(id, { args: { id: 'secret' } });
    assert.equal(ran.status, 200);
    assert.equal(ran.json.raw, 1);
    const read = await app.call('GET', `/tokens/${ran.json.tokens.id}`, { key: caller.key });
    assert.equal(read.json.data, 'secret');
    const [created] = await entriesOf(ran.json.tokens.id);
    assert.ok(created);
    const user = await app.makeApplication(tenant.id, 'private', ['token:use']);
    const refused = await react(id, { args: { id: 'secret' } }, user.key);
    assert.deepEqual([refused.status, refused.json.code], [403, 'permission_denied']);
  });

  it('gives code a client that acts as its Application, under every accepted name', async () => {
    const own = await app.makeApplication(tenant.id, 'private', ['token:create'], READS);
    const id = await make(
      `module.exports = async (req) => {
         const made = await req.client.tokens.create({ type: 'token', data: 'from code' });
         const read = await req.acme.tokens.retrieve(made.id);
         const denied = await req.client.request('POST', '/reactors/x/react', {}).catch((e) => e.status);
         const managed = await req.client.request('GET', '/applications').catch((e) => e.status);
         return { raw: [made.id, read.data, denied, managed] };
       };`,
      { application: { id: own.id } },
    );
    const ran = await react(id);
    assert.equal(ran.status, 200, JSON.stringify(ran.json));
    const [made, ...others] = ran.json.raw;
    assert.deepEqual(others, ['from code', 404, 404]);
    const entries = await entriesOf(made);
    assert.deepEqual(
      entries.map(({ message, actor_id: by }: { message: string; actor_id: string }) => [message, by]),
      [
        ['Token retrieved', own.id],
        ['Token created', own.id],
      ],
    );
    const without = await make('module.exports = async (req) => ({ raw: [req.client, req.acme ?? null] });');
    assert.deepEqual((await react(without)).json, { raw: [null, null] });
  });

  it('refuses before the code runs', async () => {
    const id = await make('module.exports = async () => ({ raw: 1 });');
    const stranger = await app.makeKey(tenant.id, 'private', ['token:read']);
    const narrow = await app.makeKey(
      tenant.id,
      'private',
      [],
      [{ description: 'x', priority: 1, container: '/other/', transform: 'reveal', permissions: ['token:use'] }],
    );
    const neighbour = await app.makeTenant();
    const foreign = await app.makeKey(neighbour.id, 'private', TOKENS);
    const args = { card: `{{ ${token} }}` };
    const cases = [
      [await react(id, {}, stranger), 403, 'permission_denied'],
      [await react(id, { args }, narrow), 403, 'access_denied'],
      [await react(id, {}, foreign), 404, 'not_found'],
      [await react('00000000-0000-4000-8000-000000000000'), 404, 'not_found'],
      [await react(id, { args: { a: '{{ 6b2fb1c0-0000-4000-8000-000000000000 }}' } }), 400, 'unknown_token'],
      [await react(id, { args: { a: '{{ x | nothing }}' } }), 400, 'invalid_expression'],
      [await react(id, [1]), 400, 'validation_failed'],
      [await react(id, { timeout_ms: 5 }), 400, 'validation_failed'],
      [await react(id, { callbackUrl: 'http://x.test/' }), 400, 'validation_failed'],
      [await react(id, { args: Array.from({ length: 250_000 }, () => ({})) }), 413, 'payload_too_large'],
    ] as const;
    for (const [answer, status, code] of cases) assert.deepEqual([answer.status, answer.json.code], [status, code]);
    assert.equal(
      (await entriesOf(id)).some(({ message }: { message: string }) => message.startsWith('Reactor inv')),
      false,
    );
  });

  it('takes 5 MiB, and a byte more is refused before it is sent', async () => {
    const id = await make('module.exports = async ({ args }) => ({ raw: args.length });');
    const args = 'x'.repeat(5 * 1024 * 1024 - JSON.stringify({ args: '' }).length);
    assert.deepEqual((await react(id, { args })).json, { raw: args.length });
    const status = await new Promise((resolve, reject) => {
      const headers = { 'SVC-API-KEY': caller.key, 'Content-Type': 'application/json', 'Content-Length': 5_242_881 };
      const asked = request({ port: app.port, method: 'POST', path: `/reactors/${id}/react`, headers });
      asked.on('error', reject);
      asked.on('response', (response) => {
        resolve(response.statusCode);
        asked.destroy();
      });
      asked.flushHeaders();
    });
    assert.equal(status, 413);
  });

  it('says what code throws, and logs that it failed', async () => {
    const cases = [
      [`throw new BadRequestError('no')`, 400, 'Bad Request', { error: ['no'] }],
      [
        `throw new InvalidReactorConfigurationError(['a', 'b'])`,
        400,
        'Invalid Reactor Configuration',
        { error: ['a', 'b'] },
      ],
      [
        `throw new AuthenticationError({ x: 'y', z: { n: 1 } })`,
        401,
        'Authentication Failed',
        { x: ['y'], z: ['{"n":1}'] },
      ],
      [`throw new InvalidPaymentMethodError()`, 402, 'Invalid Payment Method', undefined],
      [`throw new AuthorizationError('no')`, 403, 'Forbidden', { error: ['no'] }],
      [`throw new RateLimitError('no')`, 429, 'Rate Limit Exceeded', { error: ['no'] }],
      [`throw new ReactorRuntimeError('no')`, 500, 'Reactor Runtime Error', { error: ['no'] }],
      [`throw new Error('gone')`, 500, 'Reactor Runtime Error', { error: ['gone'] }],
      [`throw 'text'`, 500, 'Reactor Runtime Error', { error: ['text'] }],
      [`throw new ServiceUnavailableError('no')`, 503, 'Service Unavailable', { error: ['no'] }],
      [`return 'text'`, 500, 'Reactor Runtime Error', undefined],
      [`return { raw: 'x'.repeat(5300000) }`, 500, 'Reactor Runtime Error', undefined],
    ] as const;
    const classes = `const { BadRequestError, InvalidReactorConfigurationError, AuthenticationError, AuthorizationError,
      InvalidPaymentMethodError, RateLimitError, ReactorRuntimeError, ServiceUnavailableError } = require('strongroom-errors');`;
    for (const [lines, status, detail, errors] of cases) {
      const id = await make(`${classes} module.exports = async () => { ${lines}; };`);
      const ran = await react(id);
      assert.deepEqual([ran.status, ran.json.code, ran.json.detail], [status, 'reactor_error', detail], lines);
      if (errors) assert.deepEqual(ran.json.errors, errors);
      assert.equal(ran.headers.get('www-authenticate'), null);
      const entries = await entriesOf(id);
      assert.deepEqual(
        entries.slice(0, 1).map(({ message, outcome }: { message: string; outcome: string }) => [message, outcome]),
        [['Reactor invocation failed', 'failure']],
      );
      assert.equal(
        entries.some(({ operation }: { operation: string }) => operation === 'denied'),
        false,
      );
    }
    for (const code of ['module.exports = 1;', 'not javascript at all', 'module.exports = require("fs");']) {
      const ran = await react(await make(code));
      assert.deepEqual(
        [ran.status, ran.json.code, ran.json.detail],
        [422, 'reactor_code_invalid', 'Invalid Reactor Code'],
        code,
      );
    }
    const lines = app.logLines.join('\n');
    assert.ok(!lines.includes('gone') && !lines.includes('"n":1'), 'what code throws is in no log');
  });

  it('lets code answer in its own words, but not act on our origin', async () => {
    const id = await make(
      `const { CustomHttpResponseError } = require('strongroom-errors');
       module.exports = async (req) => { throw new CustomHttpResponseError(req.args); };`,
    );
    const ran = await react(id, {
      args: {
        status: 418,
        headers: { 'X-Tea': 'green', 'Set-Cookie': 'a=1', 'Access-Control-Allow-Origin': 'x', 'ACME-TRACE-ID': 'mine' },
        body: { tea: true },
      },
    });
    assert.deepEqual([ran.status, ran.json], [418, { tea: true }]);
    assert.deepEqual(
      ['x-tea', 'set-cookie', 'access-control-allow-origin', 'acme-trace-id', 'content-security-policy'].map((name) =>
        ran.headers.get(name),
      ),
      ['green', null, '*', null, 'sandbox'],
    );
    for (const args of [
      { status: 199 },
      { status: 600 },
      { status: 200, headers: { 'x y': 'z' } },
      { status: '200' },
    ]) {
      assert.equal((await react(id, { args })).status, 500, JSON.stringify(args));
    }
    const shown = await fetch(`${app.baseUrl}/reactors/${id}/react`, {
      method: 'POST',
      headers: { 'SVC-API-KEY': caller.key, 'Content-Type': 'application/json', 'Sec-Fetch-Dest': 'iframe' },
      body: JSON.stringify({ args: { status: 200, headers: { 'content-type': 'text/html' }, body: '<script>' } }),
    });
    assert.equal(shown.status, 403);
  });

  it('gives a repeated request its first answer while the caller may still use tokens', async () => {
    const id = await make('let n = 0; module.exports = async () => ({ raw: (n += 1) });');
    const once = () =>
      app.call('POST', `/reactors/${id}/react`, {
        key: caller.key,
        body: {},
        headers: { 'SVC-IDEMPOTENCY-KEY': 'k1' },
      });
    assert.deepEqual((await once()).json, { raw: 1 });
    assert.deepEqual((await once()).json, { raw: 1 });
    assert.deepEqual((await react(id)).json, { raw: 2 });
  });
});
