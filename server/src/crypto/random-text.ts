import { randomBytes } from 'node:crypto';

export const DIGITS = '0123456789';
export const LOWER_CASE_LETTERS = 'abcdefghijklmnopqrstuvwxyz';
export const LOWER_CASE_ALPHANUMERICS = LOWER_CASE_LETTERS + DIGITS;
export const ALPHANUMERICS = LOWER_CASE_ALPHANUMERICS + LOWER_CASE_LETTERS.toUpperCase();

const BYTE_VALUES = 256;
/** Drawing a little more than needed makes a second draw rare. */
const SPARE_FACTOR = 1.3;
const SPARE_BYTES = 8;

/**
 * Characters drawn evenly from an alphabet of at most 256. A byte past the last whole multiple of the alphabet is thrown
 * away: taking it modulo the size would make the first characters of the alphabet likelier than the last.
 */
export function randomText(alphabet: string, length: number): string {
  const usableValues = BYTE_VALUES - (BYTE_VALUES % alphabet.length);
  let text = '';
  while (text.length < length) {
    const bytes = randomBytes(Math.ceil((length - text.length) * SPARE_FACTOR) + SPARE_BYTES);
    for (const byte of bytes) {
      if (byte >= usableValues) continue;
      text += alphabet.charAt(byte % alphabet.length);
      if (text.length === length) break;
    }
    bytes.fill(0);
  }
  return text;
}
