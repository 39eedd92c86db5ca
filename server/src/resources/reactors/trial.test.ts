// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const PRINTS = 'console.log("one", { n: 1 }); console.error("two");';

describe('trial runs of code', () => {
  let app: TestApp;
  let key: string;
  let reactorId: string;

  before(async () => {
    app = await startTestApp();
    const tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'management', ['reactor:create', 'reactor:update', 'log:read']);
    const code = `module.exports = async (req) => { ${PRINTS} return { raw: [req.args.n, req.configuration.A, req.client ?? null], tokenize: { a: 1 } }; };`;
    const made = await app.call('POST', '/reactors', {
      key,
      body: { name: 'r', code, configuration: { A: 'stored' } },
    });
    reactorId = made.json.id;
  });
  after(() => app.close());

  const tryStored = (body?: unknown) =>
    app.call('POST', `/reactors/${reactorId}/test`, { key, ...(body !== undefined && { body }) });
  const tryGiven = (body: unknown) => app.call('POST', '/reactors/test', { key, body });
  const tested = async (entityId: string) => {
    const { json } = await app.call('GET', `/logs?entity_id=${encodeURIComponent(entityId)}&include=details`, { key });
    const { message, operation, outcome, entity_version: version } = json.data[0];
    return [message, operation, outcome, version];
  };

  it('run the code of a Reactor without tokens or client, and show what it prints', async () => {
    const ran = await tryStored({ args: { n: 7 } });
    assert.equal(ran.status, 200, ran.text);
    const { duration_ms: durationMs, ...rest } = ran.json;
    assert.deepEqual(rest, {
      raw: [7, 'stored', null],
      tokenize: { a: 1 },
      console: [
        { level: 'log', text: 'one {"n":1}' },
        { level: 'error', text: 'two' },
      ],
    });
    assert.ok(Number.isInteger(durationMs) && durationMs >= 0);
    assert.deepEqual(await tested(reactorId), ['Reactor tested', 'use', 'success', 1]);
  });

  it('run other code or configuration in its place', async () => {
    const ran = await tryStored({ configuration: { A: 'given' }, args: { n: 1 } });
    assert.deepEqual(ran.json.raw, [1, 'given', null]);
    const other = await tryStored({ code: 'module.exports = (req) => ({ raw: req.configuration });' });
    assert.deepEqual(other.json.raw, { A: 'stored' });
    assert.deepEqual(await tested(reactorId), ['Reactor tested', 'use', 'success', undefined]);
    const stored = await app.call('GET', `/reactors/${reactorId}/test`, { key });
    assert.equal(stored.status, 405);
  });

  it('run code that is nobody’s yet', async () => {
    const ran = await tryGiven({ code: 'module.exports = (req) => ({ raw: req.args });', args: { x: [1] } });
    assert.deepEqual(ran.json.raw, { x: [1] });
    assert.deepEqual(await tested('*'), ['Reactor tested', 'use', 'success', undefined]);
  });

  it('show with an error what was printed before it', async () => {
    const ran = await tryGiven({ code: `module.exports = () => { ${PRINTS} throw new Error('no'); };` });
    assert.deepEqual([ran.status, ran.json.code, ran.json.errors], [500, 'reactor_error', { error: ['no'] }]);
    assert.deepEqual(
      ran.json.console.map(({ level }: { level: string }) => level),
      ['log', 'error'],
    );
    const broken = await tryGiven({ code: 'module.exports = ;' });
    assert.deepEqual([broken.status, broken.json.code, broken.json.console], [422, 'reactor_code_invalid', []]);
    const custom = await tryGiven({
      code: `const { CustomHttpResponseError: E } = require('strongroom-errors');
             module.exports = () => { throw new E({ status: 299, headers: { a: 'b' }, body: 'c' }); };`,
    });
    assert.equal(custom.status, 299);
    assert.deepEqual([custom.json.response.status, custom.json.response.body], [299, 'c']);
  });

  it('print at most 64 KiB, and keep nothing between runs', async () => {
    const code = `let n = 0; module.exports = () => { n += 1; for (let i = 0; i < 3000; i += 1) console.log('x'.repeat(100)); return { raw: n }; };`;
    for (let run = 0; run < 2; run += 1) {
      const { json } = await tryGiven({ code });
      assert.equal(json.raw, 1);
      const text = json.console.map((line: { text: string }) => line.text).join('');
      assert.ok(text.length <= 65_536 && text.length > 60_000, `${text.length}`);
    }
    assert.equal(
      app.logLines.some((line) => line.includes('xxxxxxxx')),
      false,
    );
  });

  it('are refused what they must not have', async () => {
    const code = 'module.exports = () => ({});';
    const cases = [
      [
        await tryGiven({ code, args: { a: '{{ x }}' } }),
        400,
        { 'args.a': ['must hold no expression: a test uses no tokens'] },
      ],
      [await tryGiven({ args: {} }), 400, { code: ['is required'] }],
      [await tryGiven({ code: '' }), 400, { code: ['must not be empty'] }],
      [await tryGiven([]), 400, { $: ['must be an object'] }],
      [
        await app.call('POST', '/reactors/00000000-0000-4000-8000-000000000000/test', { key, body: {} }),
        404,
        undefined,
      ],
    ] as const;
    for (const [answer, status, errors] of cases) {
      assert.equal(answer.status, status);
      assert.deepEqual(answer.json.errors, errors);
    }
  });
});

describe('where no code can be run', () => {
  it('invocations are 503, probes say why, and everything else works', async (t) => {
    const app = await startTestApp({ env: { STRONGROOM_REACTORS: 'off' } });
    t.after(() => app.close());
    const tenant = await app.makeTenant();
    const key = await app.makeKey(tenant.id, 'management', ['reactor:create', 'reactor:update']);
    const caller = await app.makeKey(tenant.id, 'private', ['token:use']);
    const made = await app.call('POST', '/reactors', {
      key,
      body: { name: 'r', code: 'module.exports = () => ({});' },
    });
    assert.equal(made.status, 201);
    for (let call = 0; call < 2; call += 1) {
      const ran = await app.call('POST', `/reactors/${made.json.id}/react`, { key: caller });
      assert.deepEqual([ran.status, ran.json.code], [503, 'reactors_unavailable']);
    }
    const tried = await app.call('POST', `/reactors/${made.json.id}/test`, { key });
    assert.deepEqual([tried.status, tried.json.code], [503, 'reactors_unavailable']);
    const ready = await app.call('GET', '/readyz');
    assert.deepEqual(ready.json, {
      status: 'ready',
      reactors: { status: 'unavailable', reason: 'STRONGROOM_REACTORS is off' },
    });
    assert.ok(app.logLines.some((line) => line.includes('no code of tenants runs here')));
  });
});
