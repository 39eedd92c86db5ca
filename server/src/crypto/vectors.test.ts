import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Secret } from '../kernel/secret.js';
import { openRecord, readRecordHeader } from './aead.js';
import { encodeAssociatedData, type RecordContext } from './associated-data.js';
import { deriveMessageKey, type MessageKeyContext } from './derive.js';
import { type FieldContext, openField } from './envelope.js';
import { hashApiKey, macOf } from './keyed-hash.js';
import { createPasswordHasher } from './password-hash.js';
import { verifyRootCheck } from './root-check.js';
import { parseRootKey } from './root-key.js';
import { createSystemSeal } from './system-seal.js';
import { unwrapKey, type WrapContext } from './wrap.js';

interface Vectors {
  rootKey: { text: string; id: string };
  messageKey: { parentHex: string; context: MessageKeyContext; keyHex: string };
  associatedData: { context: RecordContext; encodedHex: string };
  record: {
    keyHex: string;
    associatedDataHex: string;
    keyVersion: number;
    dataVersion: number;
    plaintext: string;
    recordHex: string;
  };
  wrappedKeys: { rootKeyText: string; context: WrapContext; plainKeyHex: string; wrappedHex: string }[];
  rootCheck: { rootKeyText: string; rootKeyId: string; sealedHex: string };
  field: { tenantKeyHex: string; keyVersion: number; context: FieldContext; plaintext: string; recordHex: string };
  apiKeyHash: { pepperHex: string; key: string; hashHex: string };
  mac: { keyHex: string; parts: string[]; macHex: string };
  password: { rowMacKeyHex: string; userId: string; password: string; stored: string };
  systemSeal: { parentHex: string; label: string; context: MessageKeyContext; plaintext: string; recordHex: string };
}

// Computed once by an independent implementation. A test that fails here means stored data can no longer be read.
const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../src/crypto/vectors/vectors.json', import.meta.url), 'utf8'),
);

const bytes = (hex: string) => Buffer.from(hex, 'hex');
const keyOf = (hex: string) => createSecretKey(bytes(hex));

test('a root key text gives the id it always gave', () => {
  assert.equal(parseRootKey(vectors.rootKey.text).id, vectors.rootKey.id);
});

test('a message key is derived as it always was', () => {
  const { parentHex, context, keyHex } = vectors.messageKey;
  assert.equal(deriveMessageKey(keyOf(parentHex), context).toString('hex'), keyHex);
});

test('associated data is encoded as it always was', () => {
  const { context, encodedHex } = vectors.associatedData;
  assert.equal(encodeAssociatedData(context).toString('hex'), encodedHex);
});

test('an old record opens', () => {
  const { keyHex, associatedDataHex, keyVersion, dataVersion, plaintext, recordHex } = vectors.record;
  const record = bytes(recordHex);
  assert.deepEqual(readRecordHeader(record), { keyVersion, dataVersion });
  assert.equal(openRecord(keyOf(keyHex), record, bytes(associatedDataHex)).toString(), plaintext);
});

test('old wrapped keys unwrap', () => {
  assert.ok(vectors.wrappedKeys.length > 0);
  for (const { rootKeyText, context, plainKeyHex, wrappedHex } of vectors.wrappedKeys) {
    const key = unwrapKey(parseRootKey(rootKeyText), context, bytes(wrappedHex));
    assert.equal(key.export().toString('hex'), plainKeyHex);
  }
});

test('an old check row is verified', () => {
  const { rootKeyText, rootKeyId, sealedHex } = vectors.rootCheck;
  verifyRootCheck([parseRootKey(rootKeyText)], { rootKeyId, sealed: bytes(sealedHex) });
});

test('an old sealed field opens', () => {
  const { tenantKeyHex, keyVersion, context, plaintext, recordHex } = vectors.field;
  const key = keyOf(tenantKeyHex);
  const encryption = { currentVersion: keyVersion, byVersion: new Map([[keyVersion, key]]) };
  const tenantKeys = { tenantId: context.tenantId, encryption, fingerprint: key, index: key };
  assert.equal(openField(tenantKeys, context, bytes(recordHex)).toString(), plaintext);
});

test('an API key hashes as it always did', () => {
  const { pepperHex, key, hashHex } = vectors.apiKeyHash;
  assert.equal(hashApiKey(keyOf(pepperHex), key).toString('hex'), hashHex);
});

test('a MAC is computed as it always was', () => {
  const { keyHex, parts, macHex } = vectors.mac;
  assert.equal(macOf(keyOf(keyHex), parts).toString('hex'), macHex);
});

test('a password matches the hash it always had', async () => {
  const { rowMacKeyHex, userId, password, stored } = vectors.password;
  const hasher = createPasswordHasher({ rowMacKey: keyOf(rowMacKeyHex) });
  assert.equal((await hasher.verify(userId, new Secret(password), stored)).matches, true);
});

test('an old record under the seal of the installation opens', () => {
  const { parentHex, label, context, plaintext, recordHex } = vectors.systemSeal;
  assert.equal(createSystemSeal(keyOf(parentHex), label).open(context, bytes(recordHex)).toString(), plaintext);
});
