import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { openRecord, readRecordHeader, sealRecord } from './aead.js';
import { IntegrityError } from './integrity-error.js';

const OVERHEAD_BYTES = 38;
const key = createSecretKey(randomBytes(32));
const associatedData = Buffer.from('the place');
const versions = { keyVersion: 2, dataVersion: 5 };
const anyBytes = (minLength = 0) => fc.uint8Array({ minLength, maxLength: 300 }).map((array) => Buffer.from(array));
const anyVersion = () => fc.integer({ min: 0, max: 0xffff_ffff });

function sample(): Buffer {
  return sealRecord(key, { ...versions, plaintext: Buffer.from('4242 4242'), associatedData });
}

test('whatever is sealed opens to the same bytes, and its header tells the versions', () => {
  fc.assert(
    fc.property(
      anyBytes(),
      anyBytes(1),
      anyVersion(),
      anyVersion(),
      (plaintext, associatedData, keyVersion, dataVersion) => {
        const record = sealRecord(key, { keyVersion, dataVersion, plaintext, associatedData });
        assert.equal(record.length, plaintext.length + OVERHEAD_BYTES);
        assert.deepEqual(readRecordHeader(record), { keyVersion, dataVersion });
        assert.deepEqual(openRecord(key, record, associatedData), plaintext);
      },
    ),
  );
});

test('with any single bit flipped, a record does not open', () => {
  const record = sample();
  for (let bit = 0; bit < record.length * 8; bit += 1) {
    const flipped = Buffer.from(record);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.throws(() => openRecord(key, flipped, associatedData), IntegrityError, `bit ${bit}`);
  }
});

test('cut at any length from either end, a record does not open', () => {
  const record = sample();
  for (let length = 0; length < record.length; length += 1) {
    assert.throws(() => openRecord(key, record.subarray(0, length), associatedData), IntegrityError);
    assert.throws(() => openRecord(key, record.subarray(record.length - length), associatedData), IntegrityError);
  }
});

test('with bytes added, a record does not open', () => {
  const longer = Buffer.concat([sample(), Buffer.from([0])]);
  assert.throws(() => openRecord(key, longer, associatedData), IntegrityError);
});

test('under another key a record does not open', () => {
  assert.throws(() => openRecord(createSecretKey(randomBytes(32)), sample(), associatedData), IntegrityError);
});

test('with other associated data a record does not open', () => {
  const record = sample();
  fc.assert(
    fc.property(
      anyBytes(1).filter((bytes) => !bytes.equals(associatedData)),
      (other) => assert.throws(() => openRecord(key, record, other), IntegrityError),
    ),
  );
});

test('bytes moved from the associated data into the header do not open', () => {
  const record = sample();
  const shifted = Buffer.concat([record.subarray(9, 10), associatedData]);
  assert.throws(() => openRecord(key, record, shifted), IntegrityError);
});

test('without associated data nothing is sealed and nothing opens', () => {
  const empty = Buffer.alloc(0);
  const seal = () => sealRecord(key, { ...versions, plaintext: Buffer.from('x'), associatedData: empty });
  assert.throws(seal, /assertion failed/);
  assert.throws(() => openRecord(key, sample(), empty), /assertion failed/);
});

test('a version that does not fit four bytes is refused rather than cut', () => {
  for (const version of [-1, 1.5, 2 ** 32, Number.NaN]) {
    const plaintext = Buffer.from('x');
    assert.throws(() => sealRecord(key, { keyVersion: version, dataVersion: 1, plaintext, associatedData }));
    assert.throws(() => sealRecord(key, { keyVersion: 1, dataVersion: version, plaintext, associatedData }));
  }
});

test('sealed twice, the same plaintext gives different records', () => {
  const records = new Set(Array.from({ length: 100 }, () => sample().toString('hex')));
  assert.equal(records.size, 100);
});
