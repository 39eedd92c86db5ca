import { createCipheriv, createDecipheriv, type KeyObject } from 'node:crypto';
import { assert } from '../kernel/assert.js';
import { createRandomPool } from '../kernel/random-pool.js';
import { IntegrityError } from './integrity-error.js';
import { assertUint32 } from './uint32.js';

const CIPHER = 'aes-256-gcm';
const FORMAT = 1;
const ALGORITHM_AES_256_GCM = 1;
const KEY_VERSION_AT = 2;
const DATA_VERSION_AT = 6;
const HEADER_BYTES = 10;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const BODY_AT = HEADER_BYTES + NONCE_BYTES;
const randomPart = createRandomPool();
const RECORD_BYTES_MIN = BODY_AT + TAG_BYTES;

/** A key for one message is bytes that are wiped right after; one that stays is a KeyObject. */
export type RecordKey = KeyObject | Buffer;

export interface RecordHeader {
  readonly keyVersion: number;
  readonly dataVersion: number;
}

export interface RecordToSeal extends RecordHeader {
  readonly plaintext: Buffer;
  /** Where the record belongs; never empty, or a record could be moved to another row unnoticed. */
  readonly associatedData: Buffer;
}

/**
 * Record: format 1, algorithm 1, key version 4, data version 4, nonce 12, ciphertext, tag 16. The nonce is random even
 * though the key is meant for one message: a write that is tried again seals a second time under the same key.
 */
export function sealRecord(key: RecordKey, { plaintext, associatedData, ...versions }: RecordToSeal): Buffer {
  const header = encodeHeader(versions);
  const nonce = randomPart(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(authenticated(header, associatedData));
  const ciphertext = cipher.update(plaintext);
  // GCM is a stream: update gives everything, final gives no bytes and fixes the tag.
  cipher.final();
  return Buffer.concat([header, nonce, ciphertext, cipher.getAuthTag()]);
}

export function openRecord(key: RecordKey, record: Buffer, associatedData: Buffer): Buffer {
  readRecordHeader(record);
  const tagAt = record.length - TAG_BYTES;
  const nonce = record.subarray(HEADER_BYTES, BODY_AT);
  // Without the fixed tag length Node takes tags of four bytes, which can be forged by trying.
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(authenticated(record.subarray(0, HEADER_BYTES), associatedData));
  decipher.setAuthTag(record.subarray(tagAt));
  const plaintext = decipher.update(record.subarray(BODY_AT, tagAt));
  try {
    decipher.final();
  } catch {
    // Deciphered but not authentic: nobody may see it.
    plaintext.fill(0);
    throw new IntegrityError('A sealed record does not open: it was changed, moved, or sealed under another key.');
  }
  return plaintext;
}

/** Tells which key opens the record. The versions are only proven once it has opened. */
export function readRecordHeader(record: Buffer): RecordHeader {
  if (record.length < RECORD_BYTES_MIN) throw new IntegrityError('A sealed record is too short.');
  if (record[0] !== FORMAT) throw new IntegrityError('A sealed record has an unknown format.');
  if (record[1] !== ALGORITHM_AES_256_GCM) throw new IntegrityError('A sealed record has an unknown algorithm.');
  return { keyVersion: record.readUInt32BE(KEY_VERSION_AT), dataVersion: record.readUInt32BE(DATA_VERSION_AT) };
}

/** The key version a record claims; undefined for what is no record, which opening it will say. */
export function keyVersionOf(record: Buffer): number | undefined {
  return record.length < HEADER_BYTES ? undefined : record.readUInt32BE(KEY_VERSION_AT);
}

function encodeHeader({ keyVersion, dataVersion }: RecordHeader): Buffer {
  assertUint32(keyVersion, 'key version');
  assertUint32(dataVersion, 'data version');
  const header = Buffer.allocUnsafe(HEADER_BYTES);
  header.writeUInt8(FORMAT, 0);
  header.writeUInt8(ALGORITHM_AES_256_GCM, 1);
  header.writeUInt32BE(keyVersion, KEY_VERSION_AT);
  header.writeUInt32BE(dataVersion, DATA_VERSION_AT);
  return header;
}

/** The header has one length, so what follows it cannot be taken for part of it. */
function authenticated(header: Buffer, associatedData: Buffer): Buffer {
  assert(associatedData.length > 0, 'a sealed record is bound to a place by associated data');
  return Buffer.concat([header, associatedData]);
}
