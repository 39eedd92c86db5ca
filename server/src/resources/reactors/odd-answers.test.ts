// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';

const nested = (depth: number) => `(() => { let v = 1; for (let i = 0; i < ${depth}; i += 1) v = [v]; return v; })()`;
const custom = (given: string) => `throw new (require('strongroom-errors').CustomHttpResponseError)(${given})`;

/** What code does, and what its caller is told. */
const CASES: readonly (readonly [string, number])[] = [
  [`return { raw: ${nested(5_000)} }`, 500],
  [`return { raw: ${nested(62)} }`, 200],
  [`return { tokenize: ${nested(100_000)} }`, 500],
  [custom(`{ status: 200, headers: { a: { toString: 1 } } }`), 500],
  [custom(`{ status: 200, headers: { a: ${nested(5_000)} } }`), 500],
  [custom(`{ status: 200, body: ${nested(5_000)} }`), 500],
  [custom(`{ status: 200, headers: { __proto__: null, constructor: 'x' }, body: 'y' }`), 200],
  [custom(`{ status: 204, body: 'ignored' }`), 204],
  [custom(`{ status: 304, body: 'ignored' }`), 304],
  [custom(`{ status: 100 }`), 500],
  [custom(`{ status: 302, headers: { Location: 'https://example.com/' } }`), 302],
  [`return JSON.parse('{"__proto__":{"raw":1},"raw":{"__proto__":{"polluted":1},"constructor":{}}}')`, 200],
  [`throw JSON.parse('{"__proto__":["x"],"toString":"y"}')`, 500],
  [`throw { get message() { throw new Error('inside') } }`, 500],
  [`throw ${nested(5_000)}`, 500],
  [`return { get raw() { throw new Error('inside') } }`, 500],
  [`return { toJSON() { return { raw: 'from toJSON' } } }`, 200],
  [`return { raw: 10n }`, 500],
  [`return { raw: Symbol('x') }`, 200],
  [`return { raw: Array.from({ length: 90_000 }, () => 1) }`, 200],
  [`return { raw: Array.from({ length: 250_000 }, () => ({})) }`, 500],
];

describe('answers as no code should give them', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let key: string;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    key = await app.makeKey(tenant.id, 'private', ['token:use', 'token:create']);
  });
  after(() => app.close());

  for (const [lines, status] of CASES) {
    it(`${lines.slice(0, 70)}: ${status}, and one entry in the log`, async () => {
      const code = `module.exports = async () => { ${lines}; };`;
      const { json } = await app.call('POST', '/reactors', { key: tenant.key, body: { name: 'r', code } });
      const headers = { 'SVC-IDEMPOTENCY-KEY': json.id };
      const ran = await app.call('POST', `/reactors/${json.id}/react`, { key, body: {}, headers });
      assert.equal(ran.status, status, ran.text.slice(0, 300));
      if (status === 500) assert.equal(ran.json.code, 'reactor_error');
      assert.equal(ran.headers.get('location'), null);
      assert.equal(({} as { polluted?: number }).polluted, undefined);
      const { rows } = await app.db.owner.query(`SELECT outcome FROM logs WHERE entity_id = $1 AND operation = 'use'`, [
        json.id,
      ]);
      const isReturned = lines.startsWith('return') && status === 200;
      assert.deepEqual(rows, [{ outcome: isReturned ? 'success' : 'failure' }]);
    });
  }

  it('none of them is a fault of ours', () => {
    assert.deepEqual(
      app.logLines.filter((line) => line.includes('request failed')),
      [],
    );
  });
});
