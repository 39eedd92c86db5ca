import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { readConfig } from '../config.js';
import { OTHER_TENANT, TENANT } from './outbound-fixture.js';
import { parseAllowRules, parseDenyRules } from './rules.js';
import { readTenantRules } from './tenant-rules-file.js';

const NAME = 'STRONGROOM_OUTBOUND_TENANTS_FILE';

describe('the file of tenants', () => {
  let folder: string;
  let path: string;
  before(async () => {
    folder = await mkdtemp('/tmp/sr-outbound-');
    path = join(folder, 'tenants.json');
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is read with what each entry leaves out', async () => {
    await writeFile(
      path,
      JSON.stringify({ [TENANT]: { allow: ['a.test'], deny: ['b.test'], public: 'refused' }, [OTHER_TENANT]: {} }),
    );
    const rules = readTenantRules(path);
    assert.deepEqual(rules.get(TENANT), {
      allow: parseAllowRules(['a.test']),
      deny: parseDenyRules(['b.test']),
      public: 'refused',
    });
    assert.deepEqual(rules.get(OTHER_TENANT), { allow: [], deny: [], public: undefined });
    assert.deepEqual(readConfig({ [NAME]: path }).outboundTenants, rules);
  });

  for (const [what, text, message] of [
    ['no JSON', '{', /is not JSON\.$/],
    ['a list', '[]', /is not a JSON object of tenants\.$/],
    ['null', 'null', /is not a JSON object of tenants\.$/],
    ['an entry under no tenant id', '{"acme-secret":{}}', /entry 1 is not under a tenant id\.$/],
    ['an id in upper case', JSON.stringify({ [TENANT.toUpperCase()]: {} }), /entry 1 is not under a tenant id\.$/],
    [
      'an entry that is a list',
      JSON.stringify({ [TENANT]: [] }),
      /entry of tenant \S+ must be an object with no other/,
    ],
    ['an unknown member', JSON.stringify({ [TENANT]: { alow: [] } }), /no other members than allow, deny, public\.$/],
    ['a bad word', JSON.stringify({ [TENANT]: { public: true } }), /must have allowed or refused as public\.$/],
    ['a text for a list', JSON.stringify({ [TENANT]: { allow: 'x.test' } }), /must have lists of texts/],
    ['a number in a list', JSON.stringify({ [TENANT]: { deny: [1] } }), /must have lists of texts/],
    [
      'a bad rule',
      JSON.stringify({ [TENANT]: { deny: ['ok.test', 'se cret'] } }),
      /must be rules such as .* rule 2 is none\.$/,
    ],
  ] as const) {
    it(`78 at start for ${what}, in a sentence that repeats nothing`, async () => {
      await writeFile(path, text);
      assert.throws(
        () => readConfig({ [NAME]: path }),
        (error: Error & { exitCode?: number }) =>
          error.exitCode === 78 &&
          message.test(error.message) &&
          error.message.includes(`${NAME} names a file`) &&
          !/se ?cret/.test(error.message),
      );
    });
  }

  it('78 at start for a file that is too large', async () => {
    await writeFile(path, ' '.repeat(4 * 1024 * 1024 + 1));
    assert.throws(() => readConfig({ [NAME]: path }), /names a file of more than 4194304 bytes\./);
  });
});
