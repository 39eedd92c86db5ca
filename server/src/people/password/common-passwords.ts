import { readFileSync } from 'node:fs';
import { PACKAGE_FOLDER } from '../../kernel/package-folder.js';

/** One word or password a line, in lower case. Written and compared by `testing/common-passwords`. */
export const COMMON_PASSWORDS_FILE = new URL('data/common-passwords.txt', PACKAGE_FOLDER);

export interface CommonPasswords {
  /**
   * Whether this is listed, or one or two listed words with some digits and signs around them, in whatever case and with
   * digits or signs for letters (`P@ssw0rd2026!`). Whoever guesses passwords tries all of these first.
   */
  has(password: string): boolean;
}

const LETTERS_FOR: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
};
/** Digits and signs behind or before a word. In the midst of it they may stand for letters. */
const ENDING_PATTERN = /[\d\p{P}\p{S}\s]*$/u;
const BEGINNING_PATTERN = /^[\d\p{P}\p{S}\s]*/u;
/** More of them are worth something by themselves. */
const AROUND_CHARACTERS_MAX = 10;

/** Reads the file once, at the start. */
export function readCommonPasswords(): CommonPasswords {
  const listed = new Set(readFileSync(COMMON_PASSWORDS_FILE, 'utf8').trimEnd().split('\n'));

  const isListed = (word: string): boolean => {
    if (listed.has(word)) return true;
    for (let at = 1; at < word.length; at += 1) {
      if (listed.has(word.slice(0, at)) && listed.has(word.slice(at))) return true;
    }
    return false;
  };

  return {
    has(password) {
      const lower = password.toLowerCase();
      if (listed.has(lower)) return true;
      // A sign at the beginning may stand for a letter too: `$ummer2026!!`.
      return [wordOf(lower), wordOf(lower.replace(BEGINNING_PATTERN, ''))].some(
        (word) => word !== '' && lower.length - word.length <= AROUND_CHARACTERS_MAX && isListed(word),
      );
    },
  };
}

/** Without digits and signs at the end, and with letters where others stand for them. */
export function wordOf(lower: string): string {
  return lower.replace(ENDING_PATTERN, '').replace(/[@4310!$57]/g, (sign) => LETTERS_FOR[sign] ?? sign);
}
