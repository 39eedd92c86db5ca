import type { KeyObject } from 'node:crypto';
import { macOf } from '../../crypto/keyed-hash.js';
import { randomText } from '../../crypto/random-text.js';
import { Secret } from '../../kernel/secret.js';

/** Crockford's base 32: no letter that looks like a digit, and no U. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const CODE_PATTERN = /^[0-9a-hjkmnp-tv-z]{10}$/;
export const RECOVERY_CODES = 10;
const CHARACTERS = 10;
const GROUP = 5;
const MAC_LABEL = 'recovery-code-1';

/** Codes to be written down, each good once in place of an authenticator: `8k2mv-x01rq`. 50 random bits each. */
export function newRecoveryCodes(): Secret<string>[] {
  // A set, because two equal codes would be one row less.
  const codes = new Set<string>();
  while (codes.size < RECOVERY_CODES) codes.add(randomText(ALPHABET, CHARACTERS));
  return [...codes].map((code) => new Secret(`${code.slice(0, GROUP)}-${code.slice(GROUP)}`));
}

/**
 * What is stored in place of a code, and looked for when one is typed; undefined for what cannot be a code. Keyed, because
 * 50 bits could be guessed from a copy of the table, and bound to the user, so that a row moved to another one is worthless.
 */
export function recoveryCodeHash(rowMacKey: KeyObject, userId: string, typed: string): Buffer | undefined {
  const code = normalised(typed);
  return CODE_PATTERN.test(code) ? macOf(rowMacKey, [MAC_LABEL, userId, code]) : undefined;
}

function normalised(typed: string): string {
  return typed.replace(/[\s-]/g, '').toLowerCase().replace(/[il]/g, '1').replaceAll('o', '0');
}
