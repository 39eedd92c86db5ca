import { FIRST_ID } from '../kernel/ids.js';
import type { PeopleTx } from '../storage/scope.js';
import type { Statement } from '../storage/statement.js';
import { statement } from '../storage/statement.js';
import type { StoredEmailChange } from './email-change/queries.js';
import type { AuthenticatorRow } from './factors/queries.js';
import type { StoredLink } from './links/queries.js';
import type { IdentityRow } from './oidc/queries.js';
import type { ChallengeRow, PasskeyRow } from './passkeys/queries.js';
import type { StoredPortalSession } from './sessions/queries.js';
import type { AddressRow } from './users/address-queries.js';

type Page<Row> = (tx: PeopleTx, after: string, limit: number) => Promise<Row[]>;

const byId =
  <Row>(page: Statement<Row>): Page<Row> =>
  (tx, after, limit) =>
    tx.run(page, [after || FIRST_ID, limit]);

export type AddressMacRow = Omit<AddressRow, 'is_disabled'>;

/** Users with an address. */
export const listAddressMacs = byId(
  statement<AddressMacRow>(
    'list_address_macs',
    `SELECT id, email, email_mac, email_verified_at FROM users
     WHERE id > $1 AND (email IS NOT NULL OR email_mac IS NOT NULL OR email_verified_at IS NOT NULL) ORDER BY id LIMIT $2`,
  ),
);

export interface PasswordRow {
  readonly user_id: string;
  readonly hash: string;
}

export const listPasswordHashes = byId(
  statement<PasswordRow>(
    'list_password_hashes',
    'SELECT user_id, hash FROM user_passwords WHERE user_id > $1 ORDER BY user_id LIMIT $2',
  ),
);

export const listPortalSessionMacs = byId(
  statement<StoredPortalSession>(
    'list_portal_session_macs',
    `SELECT id, user_id, hash, mac, signed_in_at, has_second_factor, created_at, seen_at, expires_at, address, agent, issuer,
       seen_mac
     FROM portal_sessions WHERE id > $1 ORDER BY id LIMIT $2`,
  ),
);

export interface SealedAuthenticator extends Pick<AuthenticatorRow, 'sealed' | 'pending'> {
  readonly user_id: string;
}

export const listSealedAuthenticators = byId(
  statement<SealedAuthenticator>(
    'list_sealed_authenticators',
    'SELECT user_id, sealed, pending FROM user_authenticators WHERE user_id > $1 ORDER BY user_id LIMIT $2',
  ),
);

export type PasskeyMacRow = Pick<PasskeyRow, 'id' | 'user_id' | 'credential_id' | 'public_key' | 'mac'>;

export const listPasskeyMacs = byId(
  statement<PasskeyMacRow>(
    'list_passkey_macs',
    'SELECT id, user_id, credential_id, public_key, mac FROM user_passkeys WHERE id > $1 ORDER BY id LIMIT $2',
  ),
);

export type IdentityMacRow = Pick<IdentityRow, 'id' | 'user_id' | 'issuer' | 'subject' | 'mac'>;

export const listIdentityMacs = byId(
  statement<IdentityMacRow>(
    'list_identity_macs',
    'SELECT id, user_id, issuer, subject, mac FROM user_identities WHERE id > $1 ORDER BY id LIMIT $2',
  ),
);

export const listEmailChangeMacs = byId(
  statement<StoredEmailChange>(
    'list_email_change_macs',
    `SELECT user_id, email, old_email, old_hash, new_hash, mac, expires_at, created_at
     FROM email_changes WHERE user_id > $1 ORDER BY user_id LIMIT $2`,
  ),
);

const LIST_LINK_MACS = statement<StoredLink>(
  'list_user_link_macs',
  `SELECT hash, user_id, purpose, mac, expires_at, created_at FROM user_links WHERE hash > $1 ORDER BY hash LIMIT $2`,
);

/** In the order of their hashes, written as hexadecimal digits. */
export const listLinkMacs: Page<StoredLink> = (tx, after, limit) =>
  tx.run(LIST_LINK_MACS, [Buffer.from(after, 'hex'), limit]);

type ChallengeMacRow = Omit<ChallengeRow, 'purpose'>;

const LIST_CHALLENGE_MACS = statement<ChallengeMacRow>(
  'list_passkey_challenge_macs',
  `SELECT hash, user_id, expires_at, mac FROM passkey_challenges
   WHERE hash > $1 AND mac IS NOT NULL ORDER BY hash LIMIT $2`,
);

/** In the order of their hashes. Those of the release before have no MAC, and open nothing. */
export const listChallengeMacs: Page<ChallengeMacRow> = (tx, after, limit) =>
  tx.run(LIST_CHALLENGE_MACS, [Buffer.from(after, 'hex'), limit]);
