import { createHmac, hash, type KeyObject } from 'node:crypto';
import { assert } from '../kernel/assert.js';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;
/** Longer messages are few, and hashing them costs more than the call. */
const SHORT_BYTES_MAX = 2_048;

/** The two halves of a key, as RFC 2104 prepares it. */
interface Pads {
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
}

/** As long as the key lives, and no longer. */
const padsByKey = new WeakMap<KeyObject, Pads>();
const inner = Buffer.alloc(BLOCK_BYTES + SHORT_BYTES_MAX);
const outer = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

/**
 * HMAC with SHA-256, for results that are stored or shown. The platform makes an object for each, which takes most of the
 * time and is left to the garbage collector; two hashes in one call each take less than half. The result passes through a
 * text that cannot be wiped, so a key must not be made this way.
 */
export function hmacSha256(key: KeyObject, message: Buffer): Buffer {
  if (message.length > SHORT_BYTES_MAX) return createHmac('sha256', key).update(message).digest();
  const pads = padsOf(key);
  const end = BLOCK_BYTES + message.length;
  try {
    inner.set(pads.inner);
    inner.set(message, BLOCK_BYTES);
    outer.set(pads.outer);
    outer.write(hash('sha256', inner.subarray(0, end), 'binary'), BLOCK_BYTES, 'latin1');
    return Buffer.from(hash('sha256', outer, 'binary'), 'latin1');
  } finally {
    inner.fill(0, 0, end);
    outer.fill(0);
  }
}

function padsOf(key: KeyObject): Pads {
  let pads = padsByKey.get(key);
  if (pads === undefined) {
    pads = padsFrom(key.export());
    padsByKey.set(key, pads);
  }
  return pads;
}

function padsFrom(bytes: Buffer): Pads {
  assert(bytes.length <= BLOCK_BYTES, 'a key of a keyed hash is no longer than a block');
  const padded = (pad: number): Uint8Array =>
    Uint8Array.from({ length: BLOCK_BYTES }, (_, at) => pad ^ (bytes[at] ?? 0));
  const pads = { inner: padded(INNER_PAD), outer: padded(OUTER_PAD) };
  bytes.fill(0);
  return pads;
}
