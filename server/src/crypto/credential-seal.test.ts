import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Secret } from '../kernel/secret.js';
import { openForCredential, sealForCredential } from './credential-seal.js';

const credential = new Secret('key_mgt_DkxOTl7UgvJ39pdfMtEcjZHneI2oe1DE');
const context = { tenantId: 't', kind: 'idempotency', entityId: 'e', field: 'answer' };
const plaintext = Buffer.from('{"key":"key_pvt_x"}');

test('opens for the credential it was sealed for', () => {
  const sealed = sealForCredential(credential, context, plaintext);
  assert.ok(!sealed.includes('key_pvt_x'));
  assert.deepEqual(openForCredential(new Secret(credential.reveal()), context, sealed), plaintext);
});

test('two seals of the same differ, and both open', () => {
  const sealed = [1, 2].map(() => sealForCredential(credential, context, plaintext));
  assert.notDeepEqual(sealed[0], sealed[1]);
  for (const record of sealed) assert.deepEqual(openForCredential(credential, context, record), plaintext);
});

test('shows nothing to another credential, an empty one, or one that differs in case', () => {
  const sealed = sealForCredential(credential, context, plaintext);
  const others = ['', 'key_mgt_other', credential.reveal().toUpperCase(), `${credential.reveal()} `];
  for (const other of others) assert.equal(openForCredential(new Secret(other), context, sealed), undefined);
});

test('shows nothing in another place, and nothing after any bit was changed', () => {
  const sealed = sealForCredential(credential, context, plaintext);
  for (const part of ['tenantId', 'kind', 'entityId', 'field']) {
    assert.equal(openForCredential(credential, { ...context, [part]: 'other' }, sealed), undefined, part);
  }
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    assert.equal(openForCredential(credential, context, changed), undefined, String(at));
  }
  assert.equal(openForCredential(credential, context, sealed.subarray(0, 20)), undefined);
});

/** Made once with this very code: what was sealed by an earlier release must still open. */
const SEALED_EARLIER =
  '01010000000100000001dcee8f163d8d09afe80904734e046f46d4ac64d090bcd70b153476a3ee66c30171ffb6d8c55a650d4f4917e00bc981';

test('opens what was sealed before', () => {
  assert.deepEqual(openForCredential(credential, context, Buffer.from(SEALED_EARLIER, 'hex')), plaintext);
});
