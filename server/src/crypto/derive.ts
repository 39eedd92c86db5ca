import { createHmac, type KeyObject } from 'node:crypto';
import { encodeParts } from './encode-parts.js';
import { assertUint32 } from './uint32.js';
import { withWiped } from './wiped.js';

const LABEL = 'strongroom/message-key/1';
// HKDF numbers its output blocks from one; 32 bytes of SHA-256 are the first block alone.
const FIRST_BLOCK = Buffer.from([1]);

export interface MessageKeyContext {
  readonly kind: string;
  readonly entityId: string;
  readonly field: string;
  readonly dataVersion: number;
}

/**
 * The key for one message. A random nonce under one long-lived key must not be drawn more than 2^32 times; with a key
 * for each message that bound is never approached, whatever the number of tokens.
 *
 * This is HKDF-Expand with SHA-256. The parent is 32 uniformly random bytes, so it serves as the pseudorandom key
 * itself (RFC 5869, section 3.3): extracting first would add no strength, and half as much again to the time of a seal.
 */
export function deriveMessageKey(parent: KeyObject, context: MessageKeyContext): Buffer {
  const { kind, entityId, field, dataVersion } = context;
  assertUint32(dataVersion, 'data version');
  const info = encodeParts([LABEL, kind, entityId, field, String(dataVersion)]);
  return createHmac('sha256', parent).update(info).update(FIRST_BLOCK).digest();
}

/**
 * Uses the key of one message and wipes it. It is plain bytes and no KeyObject, because it lives for one call: wrapping
 * it would take as long as the encryption.
 */
export function withMessageKey<T>(parent: KeyObject, context: MessageKeyContext, use: (key: Buffer) => T): T {
  return withWiped(deriveMessageKey(parent, context), use);
}
