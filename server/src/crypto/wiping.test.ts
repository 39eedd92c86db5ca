import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Secret } from '../kernel/secret.js';
import type { Capture } from '../testing/captured-bytes.js';
import { captureBytes, holdsBytes, unwiped } from '../testing/captured-bytes.js';
import { openForCredential, sealForCredential } from './credential-seal.js';
import { openField, resealField, sealField } from './envelope.js';
import { generateExchangeKey, parsePrivateExchangeKey, parsePublicExchangeKey } from './exchange-key.js';
import { macOf } from './keyed-hash.js';
import { rewrapSystemKeys } from './rewrap.js';
import { makeRootCheck } from './root-check.js';
import { formatRootKey, generateRootKey, parseRootKey } from './root-key.js';
import { openStream, sealStream } from './sealed-stream.js';
import { identityUnlock, passphraseLock, recipientLock } from './sealed-stream-keys.js';
import { deriveSubkey } from './subkey.js';
import { generateSystemKeys, openSystemKeys } from './system-keys.js';
import { generateTenantKeys, openTenantKeys } from './tenant-keys.js';

const MARK = 'plaintext of a cardholder';
const place = { tenantId: 't', kind: 'token', entityId: 'e', field: 'data', dataVersion: 1 };
const rootKey = parseRootKey(generateRootKey().reveal());
const other = parseRootKey(generateRootKey().reveal());
const tenantKeys = openTenantKeys([rootKey], 't', generateTenantKeys(rootKey, 't'));
const systemRows = generateSystemKeys(rootKey);
const credential = new Secret('key_pvt_1');

let capture: Capture;
beforeEach(() => {
  capture = captureBytes();
});
afterEach(() => capture.stop());

/** Only what is captured in here is judged: what a test makes itself is its own. */
function nothingIsLeftOf(act: () => unknown): void {
  const from = capture.all.length;
  act();
  const seen = capture.all.slice(from);
  assert.ok(seen.length > 0, 'something was captured');
  assert.deepEqual(unwiped({ ...capture, all: seen }), []);
}

test('keys that are made, wrapped, unwrapped, derived, parsed or written out leave no bytes behind', () => {
  nothingIsLeftOf(() => generateTenantKeys(rootKey, 't'));
  nothingIsLeftOf(() => openSystemKeys([rootKey], generateSystemKeys(rootKey)));
  nothingIsLeftOf(() => rewrapSystemKeys([other, rootKey], systemRows));
  nothingIsLeftOf(() => deriveSubkey(tenantKeys.index, 'label'));
  nothingIsLeftOf(() => parseRootKey(generateRootKey().reveal()));
  nothingIsLeftOf(() => assert.throws(() => parseRootKey(generateRootKey().reveal().replace(/.$/, 'x'))));
  nothingIsLeftOf(() => parsePrivateExchangeKey(generateExchangeKey().privateText.reveal()));
  assert.equal(formatRootKey(rootKey).reveal().length, 56);
});

test('what is hashed leaves no bytes behind, short or long', () => {
  for (const text of [MARK, MARK.repeat(200)]) {
    nothingIsLeftOf(() => macOf(tenantKeys.index, ['data', text]));
  }
  assert.ok(holdsBytes(capture, 'hashed', MARK) && holdsBytes(capture, 'message of a keyed hash', MARK));
});

test('sealing anew and sealing for a credential leave no key bytes behind, and the caller’s plaintext is its own', () => {
  const plaintext = Buffer.from(MARK);
  const record = sealField(tenantKeys, place, plaintext);
  const sealed = sealForCredential(credential, place, plaintext);
  assert.equal(plaintext.toString(), MARK);
  plaintext.fill(0);
  openField(tenantKeys, place, record).fill(0);
  openForCredential(credential, place, sealed)?.fill(0);
  nothingIsLeftOf(() => resealField(tenantKeys, place, record));
  assert.deepEqual(unwiped(capture), []);
});

test('a cipher that fails leaves neither plaintext nor keys behind', () => {
  const record = sealField(tenantKeys, place, Buffer.from('x'));
  capture.stop();
  capture = captureBytes();
  capture.failCiphers();
  for (const act of [
    () => resealField(tenantKeys, place, record),
    () => generateTenantKeys(rootKey, 't'),
    () => generateSystemKeys(rootKey),
    () => rewrapSystemKeys([other, rootKey], systemRows),
    () => sealStream(recipientLock(parsePublicExchangeKey(generateExchangeKey().publicText)), ['c']),
  ]) {
    nothingIsLeftOf(() => assert.throws(act, /the cipher failed/));
  }
  capture.stop();
  capture = captureBytes();
  capture.failCiphers();
  assert.throws(() => makeRootCheck(rootKey), /the cipher failed/);
  const keys = capture.all.filter(({ what }) => what === 'key of a cipher');
  assert.ok(keys.length > 0 && keys.every(({ now }) => now.every((byte) => byte === 0)));
});

test('a stream that ends, or is abandoned, leaves nothing of what it sealed; what it opened is the caller’s', async () => {
  const { publicText, privateText } = generateExchangeKey();
  const lock = recipientLock(parsePublicExchangeKey(publicText));
  const unlock = identityUnlock(parsePrivateExchangeKey(privateText.reveal()));
  const line = Buffer.from(MARK.repeat(1_000));
  const sealer = sealStream(lock, ['c']);
  const sealed = Buffer.concat([...Array.from({ length: 12 }, () => sealer.update(line)), sealer.end()]);
  const opener = openStream(unlock, ['c']);
  for (const opened of [await opener.update(sealed), await opener.end()]) {
    assert.ok(opened.includes(MARK));
    opened.fill(0);
  }
  assert.ok(holdsBytes(capture, 'plaintext to seal', MARK) && holdsBytes(capture, 'plaintext that was opened', MARK));
  assert.deepEqual(unwiped(capture), []);

  const given = sealStream(await passphraseLock(new Secret('a passphrase'), { workFactor: 10 }), ['c']);
  given.update(line);
  given.update(Buffer.alloc(70_000, MARK));
  given.abandon();
  assert.deepEqual(unwiped(capture), []);
});

test('a stream that does not open leaves nothing of what opened before', async () => {
  const { publicText, privateText } = generateExchangeKey();
  const sealer = sealStream(recipientLock(parsePublicExchangeKey(publicText)), ['c']);
  const sealed = Buffer.concat([sealer.update(Buffer.alloc(200_000, MARK)), sealer.end()]);
  sealed[150_000] = (sealed[150_000] ?? 0) ^ 1;
  const opener = openStream(identityUnlock(parsePrivateExchangeKey(privateText.reveal())), ['c']);
  await assert.rejects(opener.update(sealed), { name: 'IntegrityError' });
  assert.ok(holdsBytes(capture, 'plaintext that was opened', MARK));
  assert.deepEqual(unwiped(capture), []);
});
