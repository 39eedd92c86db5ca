import { COMMON_PHRASES, COMMON_WORDS } from './words.js';

/** No password may be shorter, so no shorter run along the keys need be listed. */
const WALK_CHARACTERS_MIN = 12;
/** Nobody who runs along the keys goes on for longer. */
const WALK_CHARACTERS_MAX = 26;
/** Rows of keys that fingers run along, in both directions and from any key. */
const WALKS: readonly string[] = [
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  'abcdefghijklmnopqrstuvwxyz',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  '1234567890'.repeat(3),
  '!@#$%^&*()_+',
];

/** The list as it is shipped: in lower case, sorted, without doubles. */
export function generateCommonPasswords(): string[] {
  const all = new Set<string>([...COMMON_WORDS, ...COMMON_PHRASES]);
  for (const walk of WALKS) {
    for (const row of [walk, [...walk].reverse().join('')]) {
      for (let from = 0; from + WALK_CHARACTERS_MIN <= row.length; from += 1) {
        const last = Math.min(row.length, from + WALK_CHARACTERS_MAX);
        for (let to = from + WALK_CHARACTERS_MIN; to <= last; to += 1) all.add(row.slice(from, to));
      }
    }
  }
  return [...all].sort();
}
