import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { withWiped } from './wiped.js';

const KEY_BYTES = 32;

/**
 * A key for one more purpose, from one that is there already. Extracting first keeps it apart from everything the parent
 * itself keys; every node that holds the parent has the same.
 */
export function deriveSubkey(parent: KeyObject, label: string): KeyObject {
  return withWiped(Buffer.from(hkdfSync('sha256', parent, '', label, KEY_BYTES)), createSecretKey);
}
