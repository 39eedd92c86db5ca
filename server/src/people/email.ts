export const EMAIL_LENGTH_MAX = 330;

/** Of an unquoted local part, as RFC 5322 has it with letters of any language (RFC 6531). */
const ATOM = '[^\\s@"(),:;<>\\[\\]\\\\.\\x00-\\x1f\\x7f-\\x9f]+';
const LETTER = '[0-9A-Za-z\\u00a1-\\uffff]';
const LABEL = `${LETTER}(?:[0-9A-Za-z\\u00a1-\\uffff-]{0,61}${LETTER})?`;

/** What could be the address of a person. Whether it is one only a mail to it can tell. */
export const EMAIL_PATTERN = `^${ATOM}(?:\\.${ATOM})*@${LABEL}(?:\\.${LABEL})*$`;

/** As addresses are compared: upper and lower case are the same. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFC').toLowerCase();
}

/** For addresses that no schema has checked. */
export function isEmail(text: string): boolean {
  return text.length <= EMAIL_LENGTH_MAX && new RegExp(EMAIL_PATTERN, 'u').test(text);
}
