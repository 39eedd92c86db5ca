import { codePointLength, hasForbiddenCharacters } from '../../kernel/text.js';
import type { CommonPasswords } from './common-passwords.js';
import { readCommonPasswords, wordOf } from './common-passwords.js';

export const PASSWORD_CHARACTERS_MIN = 12;
export const PASSWORD_CHARACTERS_MAX = 200;
/** A shorter local part (`al@example.com`) would refuse too much. */
const LOCAL_PART_CHARACTERS_MIN = 4;
const DISTINCT_CHARACTERS_MIN = 5;
/** `abc123abc123` is as easy as its half. */
const REPEATED_CHARACTERS_MAX = 8;
const PRODUCT_NAME = 'strongroom';

export interface PasswordPolicy {
  /** What is wrong with a new password, as messages of its field; empty if nothing is. */
  faultsOf(password: string, user: { readonly email: string }): string[];
}

/** Length and what is easily guessed; no rules about kinds of characters, which make passwords worse (NIST SP 800-63B). */
export function loadPasswordPolicy(common: CommonPasswords = readCommonPasswords()): PasswordPolicy {
  return {
    faultsOf(given, { email }) {
      const password = given.normalize('NFC');
      const length = codePointLength(password);
      if (length > PASSWORD_CHARACTERS_MAX) return [`Must have at most ${PASSWORD_CHARACTERS_MAX} characters.`];
      if (hasForbiddenCharacters(password)) return ['Must not hold U+0000 or half of a surrogate pair.'];
      const faults: string[] = [];
      if (length < PASSWORD_CHARACTERS_MIN) faults.push(`Must have at least ${PASSWORD_CHARACTERS_MIN} characters.`);
      if (common.has(password)) faults.push('Is a common password, or common words with digits or signs around them.');
      if (isRepetitive(password)) faults.push('Must not repeat the same few characters.');
      if (isProductName(password)) faults.push('Must be more than the name of the product.');
      if (holdsLocalPart(password, email)) faults.push('Must not contain the name in the e-mail address.');
      return faults;
    },
  };
}

function isRepetitive(password: string): boolean {
  const lower = password.toLowerCase();
  if (new Set(lower).size < DISTINCT_CHARACTERS_MIN) return true;
  for (let length = 1; length <= REPEATED_CHARACTERS_MAX && 2 * length <= lower.length; length += 1) {
    // The last repetition may be cut off.
    if (lower.slice(length) === lower.slice(0, -length)) return true;
  }
  return false;
}

/** The name once or more often, with nothing but digits, signs and spaces around it. */
function isProductName(password: string): boolean {
  const letters = wordOf(password.toLowerCase()).replace(/[^\p{L}]/gu, '');
  return letters.includes(PRODUCT_NAME) && letters.replaceAll(PRODUCT_NAME, '') === '';
}

function holdsLocalPart(password: string, email: string): boolean {
  const localPart = email.slice(0, email.lastIndexOf('@')).normalize('NFC').toLowerCase();
  return codePointLength(localPart) >= LOCAL_PART_CHARACTERS_MIN && password.toLowerCase().includes(localPart);
}
