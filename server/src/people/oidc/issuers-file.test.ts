import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { readConfig } from '../../config.js';
import { parseAllowRules } from '../../outbound/rules.js';
import { outboundRulesOf, readOidcIssuers } from './issuers-file.js';

const NAME = 'STRONGROOM_OIDC_ISSUERS_FILE';
const GOOD = { name: 'Example', issuer: 'https://id.example.com', client_id: 'portal', client_secret: 'hush-hush-77' };

describe('the file of issuers', () => {
  let folder: string;
  let path: string;
  before(async () => {
    folder = await mkdtemp('/tmp/sr-oidc-');
    path = join(folder, 'issuers.json');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const write = (value: unknown) => writeFile(path, typeof value === 'string' ? value : JSON.stringify(value));

  it('is read with what each entry leaves out, and shows no secret', async () => {
    await writeFile(join(folder, 'secret'), 'from a file\n');
    const { client_secret: _, ...rest } = GOOD;
    const other = {
      issuer: 'https://[fd00::1]:8443/realm/',
      scopes: ['openid', 'groups', 'openid'],
      hosts: ['a.test:444'],
      second_factor: true,
    };
    await write([GOOD, { ...rest, ...other, client_secret_file: join(folder, 'secret') }]);
    const issuers = readConfig({ [NAME]: path }).oidcIssuers ?? [];
    const [first, second] = issuers;
    assert.deepEqual(
      issuers.map(({ id, clientSecret, ...more }) => more),
      [
        {
          name: 'Example',
          issuer: 'https://id.example.com/',
          clientId: 'portal',
          scopes: ['openid', 'email', 'profile'],
          hosts: [],
          hasSecondFactor: false,
        },
        {
          name: 'Example',
          issuer: other.issuer,
          clientId: 'portal',
          scopes: ['openid', 'groups'],
          hosts: ['a.test:444'],
          hasSecondFactor: true,
        },
      ],
    );
    assert.equal(first?.clientSecret.reveal(), 'hush-hush-77');
    assert.equal(second?.clientSecret.reveal(), 'from a file');
    assert.ok(!`${JSON.stringify(issuers)} ${inspect(issuers, { depth: 9 })}`.includes('hush'));
    assert.deepEqual(outboundRulesOf(issuers), {
      allow: parseAllowRules(['id.example.com', '[fd00::1]:8443', 'a.test:444']),
      deny: [],
      public: 'refused',
    });
  });

  it('gives ids that stay when a name, a secret or a slash changes, and differ with issuer and client', async () => {
    const idOf = async (changes: object) => {
      await write([{ ...GOOD, ...changes }]);
      return readOidcIssuers(path)[0]?.id ?? '';
    };
    const id = await idOf({});
    assert.match(id, /^[0-9a-f]{16}$/);
    // As the page for operators has them compute it, which must not change: it is registered at issuers.
    const text = '["https://id.example.com/","portal"]';
    assert.equal(id, createHash('sha256').update(text).digest('hex').slice(0, 16));
    assert.equal(await idOf({ name: 'Other', client_secret: 'x', issuer: 'https://ID.example.com/' }), id);
    assert.notEqual(await idOf({ client_id: 'portal2' }), id);
    assert.notEqual(await idOf({ issuer: 'https://id.example.com/realm' }), id);
  });

  it('may be an empty list', async () => {
    await write([]);
    assert.deepEqual(readConfig({ [NAME]: path }).oidcIssuers, []);
  });

  const one = (changes: object) => [{ ...GOOD, ...changes }];
  for (const [what, value, message] of [
    ['no JSON', '[hush', /is not JSON\.$/],
    ['an object', {}, /is not a JSON list of issuers\.$/],
    ['too many', Array(21).fill(GOOD), /of more than 20 issuers\.$/],
    ['the same twice', [GOOD, GOOD], /issuer 2 is there already\.$/],
    ['an entry that is a text', [GOOD, 'hush'], /issuer 2 must be an object with no other members/],
    ['an unknown member', one({ hush: 1 }), /no other members than name, issuer/],
    ['no name', one({ name: undefined }), /must have a name of 1 to 60/],
    ['a blank name', one({ name: ' \u200b' }), /must have a name of 1 to 60/],
    ['a long name', one({ name: 'hush'.repeat(16) }), /must have a name of 1 to 60/],
    ['a name with a line break', one({ name: 'a\nb' }), /must have a name of 1 to 60/],
    ['no issuer', one({ issuer: undefined }), /must have an https:/],
    ['an issuer without TLS', one({ issuer: 'http://hush.example.com' }), /must have an https:/],
    ['an issuer with a user', one({ issuer: 'https://u:hush@example.com' }), /must have an https:/],
    ['an issuer with a query', one({ issuer: 'https://example.com/?hush' }), /must have an https:/],
    ['an issuer with a fragment', one({ issuer: 'https://example.com/#hush' }), /must have an https:/],
    ['the address of the document', one({ issuer: 'https://a.test/.well-known/openid-configuration' }), /an https:/],
    ['no client', one({ client_id: '' }), /must have a client_id/],
    ['no secret', one({ client_secret: undefined }), /either client_secret or client_secret_file\.$/],
    ['two secrets', one({ client_secret_file: '/hush' }), /either client_secret or client_secret_file\.$/],
    ['a secret that is a number', one({ client_secret: 7 }), /must have a secret of printable/],
    [
      'a secret file that is a number',
      one({ client_secret: undefined, client_secret_file: 7 }),
      /a secret of printable/,
    ],
    [
      'a secret file that is not there',
      one({ client_secret: undefined, client_secret_file: '/nowhere/hush' }),
      /has a client_secret_file that names a file that cannot be read \(ENOENT\)\.$/,
    ],
    ['scopes without openid', one({ scopes: ['email'] }), /openid among them\.$/],
    ['a scope with a space', one({ scopes: ['openid', 'hush hush'] }), /openid among them\.$/],
    ['scopes as a text', one({ scopes: 'openid' }), /openid among them\.$/],
    ...['*.example.com', '10.0.0.0/8', 'https://a.test', 'a.test/x', 'hush hush', ''].map(
      (host) => [`the host ${host}`, one({ hosts: [host] }), /list of at most 10 hosts/] as const,
    ),
  ] as const) {
    it(`78 at start for ${what}, in a sentence that repeats nothing`, async () => {
      await write(value);
      assert.throws(
        () => readConfig({ [NAME]: path }),
        (error: Error & { exitCode?: number }) => {
          assert.equal(error.exitCode, 78);
          assert.match(error.message, message);
          assert.ok(error.message.includes(`${NAME} names a file`), error.message);
          assert.ok(!/hush/.test(error.message), error.message);
          return true;
        },
      );
    });
  }
});
