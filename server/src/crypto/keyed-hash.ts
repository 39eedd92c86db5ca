import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { encodeParts } from './encode-parts.js';
import { hmacSha256 } from './hmac.js';
import { withWiped } from './wiped.js';

/**
 * What is stored in place of an API key. The key is long and random, so no slow hash is needed; the pepper makes a
 * copied table useless for telling which of some known keys it holds.
 */
export function hashApiKey(pepper: KeyObject, key: string): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

/**
 * Authenticates a list of parts. Moving a byte from one part to its neighbour changes the result. The parts may be what is
 * to stay secret, such as a card number, so the bytes they were joined into are wiped.
 */
export function macOf(key: KeyObject, parts: readonly (string | Buffer)[]): Buffer {
  return withWiped(encodeParts(parts), (message) => hmacSha256(key, message));
}

/** Takes the same time wherever the difference is, so a forger learns nothing from being refused. */
export function macEquals(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
