import type { KeyObject } from 'node:crypto';
import { macEquals, macOf } from '../../crypto/keyed-hash.js';
import type { AddressRow } from './address-queries.js';

/** An address of a user; the moment is null as long as nobody has proven that it is the user's. */
export interface OwnAddress {
  readonly email: string;
  readonly verifiedAt: Date | null;
}

/**
 * Over whose address it is, and whether that was proven. Links that open an account go there, and invitations are for who has
 * proven theirs, so whoever edits the row must gain neither. The form without a moment vouches for unproven ones alone.
 */
export function addressMacOf(rowMacKey: KeyObject, userId: string, { email, verifiedAt }: OwnAddress): Buffer {
  return verifiedAt === null
    ? macOf(rowMacKey, ['user-address-1', userId, email])
    : macOf(rowMacKey, ['user-address-2', userId, email, String(verifiedAt.getTime())]);
}

/** Whether the product wrote this address of this user, and whether it was proven. */
export function isAddressSound(
  rowMacKey: KeyObject,
  { id, email, email_mac: mac, email_verified_at: verifiedAt }: Omit<AddressRow, 'is_disabled'>,
): boolean {
  return email !== null && mac !== null && macEquals(addressMacOf(rowMacKey, id, { email, verifiedAt }), mac);
}
