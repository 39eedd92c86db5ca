import type { KeyObject } from 'node:crypto';
import { hmacSha256 } from '../crypto/hmac.js';
import { deriveSubkey } from '../crypto/subkey.js';

/** What stands for a client in a store that others can read. */
export type ClientHash = (limitKey: string) => string;

const LABEL = 'strongroom/rate-store/1';
/** 128 bits: two clients that meet would share a limit, so they must not. */
const CHARACTERS = 22;

/**
 * The same on every node of one installation, and nobody without the key can tell an address from it: there are few
 * enough IPv4 addresses to try them all against a plain hash.
 */
export function createClientHash(parent: KeyObject): ClientHash {
  const key = deriveSubkey(parent, LABEL);
  return (limitKey) => hmacSha256(key, Buffer.from(limitKey)).toString('base64url').slice(0, CHARACTERS);
}
