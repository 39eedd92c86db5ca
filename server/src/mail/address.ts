import { isWellFormed } from '../kernel/text.js';

const CHARACTERS_MAX = 330;
const LOCAL_PART_BYTES_MAX = 64;
/** The unquoted form of RFC 5321, with letters of all languages (RFC 6531). No header or command can be put in between. */
const LOCAL_PART = /^[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const LABEL = /^[\p{L}\p{M}\p{N}]([\p{L}\p{M}\p{N}-]{0,61}[\p{L}\p{M}\p{N}])?$/u;

/** Whether this is one plain address, such as `ann@example.com`. */
export function isMailAddress(text: string): boolean {
  const at = text.lastIndexOf('@');
  if (at < 1 || text.length > CHARACTERS_MAX || !isWellFormed(text)) return false;
  const localPart = text.slice(0, at);
  if (Buffer.byteLength(localPart) > LOCAL_PART_BYTES_MAX || !LOCAL_PART.test(localPart)) return false;
  return domainOf(text)
    .split('.')
    .every((label) => LABEL.test(label));
}

export function domainOf(address: string): string {
  return address.slice(address.lastIndexOf('@') + 1);
}
