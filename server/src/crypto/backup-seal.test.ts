import assert from 'node:assert/strict';
import { createHmac, hkdfSync } from 'node:crypto';
import { test } from 'node:test';
import { manifestSealer, sealCheck } from './backup-seal.js';
import { generateRootKey, parseRootKey } from './root-key.js';

const OLD = parseRootKey(generateRootKey().reveal());
const NEW = parseRootKey(generateRootKey().reveal());
const STRICT = { isUnsealedAccepted: false };

test('a seal is the HMAC of the text by a key derived for this purpose, as it will always be', () => {
  const key = Buffer.from(hkdfSync('sha256', OLD.key, '', 'strongroom/backup-manifest/1', 32));
  const mac = createHmac('sha256', key).update('{}\n').digest('hex');
  assert.equal(manifestSealer([OLD])(OLD.id)('{}\n'), `strongroom-seal-1 ${OLD.id} ${mac}\n`);
});

test('the key that sealed the database seals its backup, also while another one is about to take its place', () => {
  const seal = manifestSealer([NEW, OLD])(OLD.id)('text');
  sealCheck([OLD], STRICT)('text', seal);
  assert.throws(() => sealCheck([NEW], STRICT)('text', seal), /sealed by root key/);
  sealCheck([NEW], STRICT)('text', manifestSealer([NEW, OLD])(undefined)('text'));
});

test('no other text fits, and no text without a seal unless that was accepted', () => {
  const seal = manifestSealer([OLD])(OLD.id)('text');
  assert.throws(() => sealCheck([OLD], { isUnsealedAccepted: true })('texts', seal), /seal does not fit/);
  assert.throws(() => sealCheck([OLD], STRICT)('text', undefined), /has no seal/);
  sealCheck([OLD], { isUnsealedAccepted: true })('text', undefined);
});
