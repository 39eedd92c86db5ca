import type { PeopleTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

/** Where a user can be written to. */
export interface AddressRow {
  readonly id: string;
  readonly email: string | null;
  readonly email_mac: Buffer | null;
  readonly email_verified_at: Date | null;
  readonly is_disabled: boolean;
}

const ADDRESS_COLUMNS = 'id, email, email_mac, email_verified_at, disabled_at IS NOT NULL AS is_disabled';

const FIND_ADDRESS_BY_KEY = statement<AddressRow>(
  'find_address_by_key',
  `SELECT ${ADDRESS_COLUMNS} FROM users WHERE email_key = $1`,
);

export async function findAddressByKey(tx: PeopleTx, emailKey: string): Promise<AddressRow | undefined> {
  return (await tx.run(FIND_ADDRESS_BY_KEY, [emailKey]))[0];
}

const FIND_ADDRESS_OF = statement<AddressRow>('find_address_of', `SELECT ${ADDRESS_COLUMNS} FROM users WHERE id = $1`);

export async function findAddressOf(tx: PeopleTx, userId: string): Promise<AddressRow | undefined> {
  return (await tx.run(FIND_ADDRESS_OF, [userId]))[0];
}

const SET_ADDRESS = statement<never>(
  'set_address',
  'UPDATE users SET email = $2, email_key = $3, email_mac = $4, email_verified_at = $5, modified_at = $6 WHERE id = $1',
);

export interface NewAddress {
  readonly email: string;
  readonly emailKey: string;
  readonly mac: Buffer;
  readonly verifiedAt: Date | null;
}

/** Fails as a unique violation where another user has it. */
export async function setAddress(tx: PeopleTx, userId: string, address: NewAddress, atMs: number): Promise<void> {
  const { email, emailKey, mac, verifiedAt } = address;
  await tx.run(SET_ADDRESS, [userId, email, emailKey, mac, verifiedAt, new Date(atMs)]);
}

const SET_ADDRESS_VERIFIED = statement<never>(
  'set_address_verified',
  'UPDATE users SET email_verified_at = $2, email_mac = $3, modified_at = $2 WHERE id = $1',
);

export async function setAddressVerified(tx: PeopleTx, userId: string, at: Date, mac: Buffer): Promise<void> {
  await tx.run(SET_ADDRESS_VERIFIED, [userId, at, mac]);
}
