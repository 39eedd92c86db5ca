// needs: engine

import assert from 'node:assert/strict';
import { createCipheriv, createHash, createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import type { RunOutcome } from '../run.js';
import { plainCode, plainInput } from '../run-fixture.js';
import type { Sandbox } from '../sandbox.js';
import { openSandbox } from '../sandbox.js';

const KEY = Buffer.alloc(32, 7);
const NONCE = Buffer.alloc(12, 9);

/** What lines of code return, beside what they must. */
const CASES: readonly (readonly [name: string, lines: string, expected: unknown])[] = [
  [
    'lodash',
    `const _ = require('lodash'); return [_.chunk([1, 2, 3], 2), _.get({ a: { b: 1 } }, 'a.b'), _.camelCase('a b')]`,
    [[[1, 2], [3]], 1, 'aB'],
  ],
  ['dayjs', `return require('dayjs')('2030-01-31T00:00:00Z').add(1, 'day').toISOString()`, '2030-02-01T00:00:00.000Z'],
  [
    'uuid',
    `const { v4, v5, validate } = require('uuid'); return [validate(v4()), v5('a', v5.URL)]`,
    [true, 'e1407479-3136-56c0-9908-bb02fb0339e2'],
  ],
  [
    'qs',
    `const qs = require('qs'); return [qs.stringify({ a: [1, 2] }), qs.parse('a[b]=c')]`,
    ['a%5B0%5D=1&a%5B1%5D=2', { a: { b: 'c' } }],
  ],
  ['crypto-js', `return require('crypto-js').SHA256('a').toString()`, createHash('sha256').update('a').digest('hex')],
  [
    'fast-xml-parser',
    `const { XMLParser } = require('fast-xml-parser'); return new XMLParser().parse('<a><b>1</b></a>')`,
    { a: { b: 1 } },
  ],
  [
    'yup',
    `const yup = require('yup'); return yup.object({ n: yup.number().required() }).validate({ n: '5' })`,
    { n: 5 },
  ],
  [
    'jose',
    `const jose = require('jose'); const key = new Uint8Array(32); const token = await new jose.SignJWT({ a: 1 }).setProtectedHeader({ alg: 'HS256' }).sign(key); return (await jose.jwtVerify(token, key)).payload`,
    { a: 1 },
  ],
  [
    'form-data',
    `const FormData = require('form-data'); const form = new FormData(); form.append('a', 'b'); return form.getBuffer().toString().includes('name="a"')`,
    true,
  ],
  ['node:buffer', `return require('node:buffer').Buffer.from('a').toString('base64')`, 'YQ=='],
  ['querystring', `return require('querystring').stringify({ a: 'b c' })`, 'a=b%20c'],
  ['url', `return new (require('url').URL)('https://a.test/x?y=1').search`, '?y=1'],
  ['util', `return require('util').format('%s-%d', 'a', 1)`, 'a-1'],
  [
    'crypto: hash',
    `return require('crypto').createHash('sha512').update('a').digest('hex')`,
    createHash('sha512').update('a').digest('hex'),
  ],
  [
    'crypto: hmac',
    `return require('crypto').createHmac('sha256', 'k').update('a').digest('base64')`,
    createHmac('sha256', 'k').update('a').digest('base64'),
  ],
  [
    'crypto: a cipher with text',
    `const c = require('crypto').createCipheriv('aes-256-gcm', Buffer.alloc(32, 7), Buffer.alloc(12, 9)); return Buffer.concat([c.update('card'), c.final()]).toString('hex')`,
    cipherText(),
  ],
  ['crypto: random', `return require('crypto').randomBytes(16).length`, 16],
  [
    'node-fetch',
    `const fetch = require('node-fetch'); return [typeof fetch, fetch.default === fetch, fetch.isRedirect(302)]`,
    ['function', true, true],
  ],
  [
    'axios',
    `const axios = require('axios'); return [typeof axios, typeof axios.create().get]`,
    ['function', 'function'],
  ],
  ['a name that is computed', `const name = 'lod' + 'ash'; return require(name).VERSION`, '4.18.1'],
  ['an alias', `return typeof require('@acme/errors').BadRequestError`, 'function'],
  ['the module of errors', `return Object.keys(require('strongroom-errors')).length`, 9],
];

for (const isJitless of [false, true]) {
  const title = `modules of tenant code ${isJitless ? 'without' : 'with'} a just-in-time compiler`;
  describe(title, () => modulesWork(isJitless));
}

function modulesWork(isJitless: boolean): void {
  let sandbox: Sandbox;
  before(async () => {
    sandbox = await openSandbox({
      ...{ instancesMax: 4, instancesPerTenantMax: 4, blanks: 1, clientNames: [], clock: systemClock },
      aliases: { '@acme/errors': 'strongroom-errors' },
      wall: { isJitless },
      answer: () => Promise.reject(new Error('nobody answers')),
      onFault: (error) => assert.fail(String(error)),
    });
  });
  after(() => sandbox.close());

  const run = async (code: string): Promise<RunOutcome> =>
    (await sandbox.run(plainCode(code), plainInput, { deadlineMs: 60_000 })).outcome;

  for (const [name, lines, expected] of CASES) {
    it(name, async () => {
      assert.deepEqual(await run(`module.exports = async () => { ${lines} };`), {
        outcome: 'returned',
        value: expected,
        console: [],
      });
    });
  }

  it('random numbers, timers and requires stand at the top of code as well', async () => {
    const top = `const id = crypto.randomUUID(); const other = require('uuid').v4(); setTimeout(() => {}, 1);`;
    const outcome = await run(`#!/usr/bin/env node\n${top}\nmodule.exports = async () => [id.length, other.length];`);
    assert.deepEqual(outcome.outcome === 'returned' && outcome.value, [36, 36]);
  });

  it('each class of error says what it is, with what it was made of', async () => {
    const outcome = await run(
      `const { RateLimitError } = require('strongroom-errors'); module.exports = () => { throw new RateLimitError({ wait: 'a while', n: { a: 1 } }); };`,
    );
    assert.deepEqual(outcome, {
      outcome: 'thrown',
      kind: 'RateLimitError',
      errors: { wait: ['a while'], n: ['{"a":1}'] },
      response: undefined,
      console: [],
    });
  });

  it(`there is ${isJitless ? 'no WebAssembly' : 'WebAssembly'}`, async () => {
    const outcome = await run(
      'module.exports = () => ({ raw: new WebAssembly.Memory({ initial: 1 }).buffer.byteLength });',
    );
    if (isJitless) assert.equal(outcome.outcome, 'thrown');
    else assert.deepEqual(outcome.outcome === 'returned' && outcome.value, { raw: 65_536 });
  });
}

function cipherText(): string {
  const cipher = createCipheriv('aes-256-gcm', KEY, NONCE);
  return Buffer.concat([cipher.update('card'), cipher.final()]).toString('hex');
}
