import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import fc from 'fast-check';
import { IntegrityError } from '../../crypto/integrity-error.js';
import type { TenantKeys } from '../../crypto/tenant-keys.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { TOKEN_TYPES } from '../types/names.js';
import type { TokenContent } from './content.js';
import { fingerprintBytes, fingerprintOf, fingerprintText } from './fingerprint.js';
import { groupIdOf, tieOf } from './names.js';
import { openContent, sealContent } from './seal.js';
import { dataTerm, joinTerms, metadataTerm, splitTerms } from './terms.js';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((array) => Buffer.from(array));

describe('what is stored of a token', () => {
  let app: TestApp;
  let keys: TenantKeys;
  let otherKeys: TenantKeys;
  let tenantId: string;
  before(async () => {
    app = await startTestApp();
    tenantId = (await app.makeTenant()).id;
    keys = await app.keyStore.keyring.forTenant(tenantId);
    otherKeys = await app.keyStore.keyring.forTenant((await app.makeTenant()).id);
  });
  after(() => app.close());

  it('a fingerprint has 43 or 44 characters of base 58 and comes back from its text', () => {
    const edges = [0, 1, 255].flatMap((byte) => [
      Buffer.alloc(32, byte),
      Buffer.concat([Buffer.alloc(31), Buffer.of(byte)]),
    ]);
    fc.assert(
      fc.property(fc.oneof(bytes, fc.constantFrom(...edges)), (fingerprint) => {
        const text = fingerprintText(fingerprint);
        assert.match(text, /^[1-9A-HJ-NP-Za-km-z]{43,44}$/);
        assert.deepEqual(fingerprintBytes(text), fingerprint);
      }),
    );
  });

  it('text that is no fingerprint is none: other lengths, other characters, numbers too large, other spellings', () => {
    const text = fingerprintText(Buffer.alloc(32, 7));
    for (const wrong of ['', text.slice(1), `1${text}`, `${text}1`, text.replace(/.$/, '0'), text.replace(/.$/, 'l')]) {
      const back = fingerprintBytes(wrong);
      assert.ok(back === undefined || fingerprintText(back) === wrong, wrong);
    }
    assert.equal(fingerprintBytes('z'.repeat(44)), undefined);
    assert.equal(fingerprintBytes('é'.repeat(43)), undefined);
    fc.assert(
      fc.property(fc.string({ minLength: 43, maxLength: 44 }), (wild) => {
        const back = fingerprintBytes(wild);
        assert.ok(back === undefined || fingerprintText(back) === wild);
      }),
    );
  });

  it('fingerprints and terms differ by tenant, type, key and kind, and agree where they must', () => {
    assert.deepEqual(fingerprintOf(keys, 'card', 'x'), fingerprintOf(keys, 'card', 'x'));
    assert.notDeepEqual(fingerprintOf(keys, 'card', 'x'), fingerprintOf(otherKeys, 'card', 'x'));
    assert.notDeepEqual(fingerprintOf(keys, 'card', 'x'), fingerprintOf(keys, 'bank', 'x'));
    assert.notDeepEqual(dataTerm(keys, 'x'), dataTerm(otherKeys, 'x'));
    assert.notDeepEqual(dataTerm(keys, 'x'), dataTerm(keys, 'X'));
    assert.deepEqual(metadataTerm(keys, 'k', 'Ä'), metadataTerm(keys, 'k', 'ä'));
    assert.notDeepEqual(metadataTerm(keys, 'k', 'v'), metadataTerm(keys, 'K', 'v'));
    assert.notDeepEqual(metadataTerm(keys, 'kv', ''), metadataTerm(keys, 'k', 'v'));
  });

  it('terms come apart as they were joined', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (values) => {
        const terms = values.map((value) => dataTerm(keys, value));
        assert.deepEqual(splitTerms(joinTerms(terms)), terms);
      }),
    );
  });

  it('a tie is the id where that is a UUID in lower case, else a digest; a group ignores order and repetition', () => {
    const uuid = '0f6f1c0e-6d0b-4c57-9a35-5f1f3c2a9d10';
    assert.equal(tieOf(uuid), uuid);
    for (const id of [uuid.toUpperCase(), 'text', `${uuid} `]) {
      assert.match(tieOf(id), /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.notEqual(tieOf(id), uuid);
    }
    assert.equal(groupIdOf('card', ['/a/', '/b/']), groupIdOf('card', ['/b/', '/a/', '/b/']));
    const names = TOKEN_TYPES.flatMap((type) =>
      [['/a/'], ['/a/b/'], ['/a/', '/b/'], []].map((set) => groupIdOf(type, set)),
    );
    assert.equal(new Set(names).size, names.length);
    assert.notEqual(groupIdOf('card', ['/a/,/b/']), groupIdOf('card', ['/a/', '/b/']));
  });

  it('a sealed record opens where it was put and nowhere else, and only with its own type and group', () => {
    const content: TokenContent = {
      type: 'card',
      data: { number: '4242424242424242' },
      containers: ['/pci/high/'],
      metadata: undefined,
      mask: undefined,
      searchIndexes: undefined,
      fingerprintExpression: undefined,
      privacy: { classification: 'pci', impact_level: 'high', restriction_policy: 'mask' },
      encryption: undefined,
    };
    const rowKey = { tenant_id: tenantId, id: 'one', data_version: 3 };
    const sealed = sealContent(keys, rowKey, content);
    const row = { ...rowKey, type: 'card', group_id: groupIdOf('card', content.containers), sealed };
    assert.deepEqual(openContent(keys, row), JSON.parse(JSON.stringify(content)));
    const flipped = Buffer.from(sealed);
    flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
    const wrong = [
      { ...row, id: 'two' },
      { ...row, data_version: 2 },
      { ...row, type: 'bank' },
      { ...row, group_id: groupIdOf('card', ['/pci/']) },
      { ...row, type: 'bank', group_id: groupIdOf('bank', content.containers) },
      { ...row, sealed: flipped },
      { ...row, sealed: sealed.subarray(0, -1) },
      { ...row, sealed: Buffer.alloc(0) },
    ];
    for (const each of wrong) assert.throws(() => openContent(keys, each), IntegrityError);
    assert.throws(() => openContent(otherKeys, row));
    assert.throws(() => openContent(keys, { ...row, tenant_id: '0f6f1c0e-6d0b-4c57-9a35-5f1f3c2a9d10' }));
    assert.notDeepEqual(sealContent(keys, rowKey, content), sealed, 'the same content never looks the same twice');
  });
});
