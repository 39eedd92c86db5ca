import type { KeyObject } from 'node:crypto';
import { hashApiKey, macEquals, macOf } from '../../crypto/keyed-hash.js';
import type { StoredEmailChange } from './queries.js';

type Unsigned = Omit<StoredEmailChange, 'mac'>;

/** Over who gets which address, and which side is still to be confirmed: nothing of it can be edited. */
export function withChangeMac(rowMacKey: KeyObject, row: Unsigned): StoredEmailChange {
  return { ...row, mac: changeMacOf(rowMacKey, row) };
}

export function isChangeSound(rowMacKey: KeyObject, row: StoredEmailChange): boolean {
  return macEquals(changeMacOf(rowMacKey, row), row.mac);
}

/** What is stored in place of the secret in a link. */
export function changeHashOf(pepper: KeyObject, secret: string): Buffer {
  return hashApiKey(pepper, `email change ${secret}`);
}

function changeMacOf(rowMacKey: KeyObject, row: Unsigned): Buffer {
  const { user_id, email, old_email, old_hash, new_hash, expires_at } = row;
  const sides = [old_hash ?? '', new_hash ?? ''];
  return macOf(rowMacKey, ['email-change-1', user_id, email, old_email ?? '', ...sides, String(expires_at.getTime())]);
}
