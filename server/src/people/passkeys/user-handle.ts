import { assert } from '../../kernel/assert.js';
import { isLowerCaseUuid } from '../../kernel/ids.js';

const BYTES = 16;

/** What an authenticator keeps to name the user: the bytes of the id, which say nothing about the person. */
export function userHandleOf(userId: string): Uint8Array<ArrayBuffer> {
  assert(isLowerCaseUuid(userId), 'users have a UUID');
  return new Uint8Array(Buffer.from(userId.replaceAll('-', ''), 'hex'));
}

/** The id of the user whom a handle in base 64 names; undefined if it is none of ours. */
export function userIdOfHandle(handle: string): string | undefined {
  const bytes = Buffer.from(handle, 'base64url');
  if (bytes.length !== BYTES || bytes.toString('base64url') !== handle) return undefined;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
