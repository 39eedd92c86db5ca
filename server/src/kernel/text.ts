/// <reference lib="es2024.string" />

const BLANK_PATTERN = /^[\p{White_Space}\p{Default_Ignorable_Code_Point}]*$/u;
const LAST_OF_BASIC_PLANE = 0xffff;

/**
 * U+0000 or half of a surrogate pair. PostgreSQL stores neither, and both read differently in different programs, so
 * text that is compared or shown is refused when it holds one.
 */
export function hasForbiddenCharacters(text: string): boolean {
  return text.includes('\u0000') || !isWellFormed(text);
}

/** Holds no half of a surrogate pair. */
export function isWellFormed(text: string): boolean {
  return text.isWellFormed();
}

/** The length a person would count by: an astral character is one. An unpaired surrogate is one as well. */
export function codePointLength(text: string): number {
  let pairs = 0;
  for (let at = 0; at < text.length; at += 1) {
    if ((text.codePointAt(at) ?? 0) <= LAST_OF_BASIC_PLANE) continue;
    pairs += 1;
    at += 1;
  }
  return text.length - pairs;
}

/**
 * Nothing to see: empty, white space, or characters that leave no mark. Zero-width spaces, soft hyphens and Hangul
 * fillers count, because a name made of them looks as empty as one made of spaces.
 */
export function isBlank(text: string): boolean {
  return BLANK_PATTERN.test(text);
}
