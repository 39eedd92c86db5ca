import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../kernel/clock.js';
import { validationFailed } from '../../kernel/errors.js';
import { isUuid, newId } from '../../kernel/ids.js';
import type { Secret } from '../../kernel/secret.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import { emailKeyOf } from '../email.js';
import { deleteEmailChange } from '../email-change/queries.js';
import type { Links } from '../links/links.js';
import { OPERATOR_LINK_MS } from '../links/links.js';
import { deleteAllLinksOf } from '../links/queries.js';
import type { Notices } from '../notices/notices.js';
import { deletePortalSessionsOf } from '../sessions/queries.js';
import { isAddressSound } from './address-mac.js';
import { findAddressOf } from './address-queries.js';
import {
  deleteAllButPassword,
  deleteDevicesOf,
  deletePassword,
  disableUser,
  enableUser,
} from './administration-queries.js';
import { lockUser } from './lock-queries.js';
import type { UserProfile, UserRow } from './queries.js';
import { findUserByEmail, insertUser, listUsersById } from './queries.js';

/** A page of the Portal, and the secret behind `#` that it takes. */
export interface OperatorLink {
  readonly path: '/portal/set-up' | '/portal/reset-password';
  readonly secret: Secret<string>;
}

/** With what was removed: from an account whose address nobody has proven it is everything. */
export interface ResetLink extends OperatorLink {
  readonly withSecondFactors: boolean;
}

/** What the operator does with users. */
export interface UserAdministration {
  /** By id or address. */
  find(idOrEmail: string): Promise<UserRow | undefined>;
  /** One without a password; the link gives it one. */
  create(profile: Omit<UserProfile, 'isEmailVerified'>): Promise<{ readonly id: string; readonly link: OperatorLink }>;
  /** Ends every session, forgets the password, and the second factors if asked to, and makes a link for a new password. */
  resetPassword(user: UserRow, options: { readonly withSecondFactors: boolean }): Promise<ResetLink>;
  /** Ends every session; nothing opens another. False for one that was disabled before. */
  disable(userId: string): Promise<boolean>;
  /** False for one that was not disabled. */
  enable(userId: string): Promise<boolean>;
}

export interface UserAdministrationOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly links: Links;
  readonly rowMacKey: KeyObject;
  readonly notices: Pick<Notices, 'tell'>;
}

export function createUserAdministration(options: UserAdministrationOptions): UserAdministration {
  const { database, clock, links, rowMacKey } = options;
  /** Who has no address yet says it with the set-up. */
  async function linkOf(tx: PeopleTx, { id, email }: Pick<UserRow, 'id' | 'email'>): Promise<OperatorLink> {
    return email === null
      ? { path: '/portal/set-up', secret: await links.make(tx, id, 'set-up', OPERATOR_LINK_MS) }
      : { path: '/portal/reset-password', secret: await links.make(tx, id, 'password-reset', OPERATOR_LINK_MS) };
  }

  return {
    find: (given) =>
      database.readPeople(async (tx) => {
        const id = isUuid(given) ? given.toLowerCase() : await findUserByEmail(tx, emailKeyOf(given));
        return id === undefined ? undefined : (await listUsersById(tx, [id]))[0];
      }),

    create: (profile) =>
      database.people(async (tx) => {
        const id = newId();
        if (!(await insertUser(tx, rowMacKey, id, { ...profile, isEmailVerified: true }, clock.nowMs()))) {
          throw validationFailed({ email: ['belongs to another user'] });
        }
        return { id, link: await linkOf(tx, { id, email: profile.email }) };
      }),

    resetPassword: ({ id }, { withSecondFactors }) =>
      database.people(async (tx) => {
        const removesAll = await emptyAccount(options, tx, id, withSecondFactors);
        const [user] = await listUsersById(tx, [id]);
        return { ...(await linkOf(tx, user ?? { id, email: null })), withSecondFactors: removesAll };
      }),

    disable: (userId) =>
      database.people(async (tx) => {
        await lockUser(tx, userId);
        await deleteEmailChange(tx, userId);
        const isChanged = await disableUser(tx, userId, clock.nowMs());
        await deletePortalSessionsOf(tx, userId);
        await deleteAllLinksOf(tx, userId);
        return isChanged;
      }),

    enable: (userId) =>
      database.people(async (tx) => {
        const isChanged = await enableUser(tx, userId, clock.nowMs());
        // A sign-in under way while the user was disabled may have left one.
        if (isChanged) await deletePortalSessionsOf(tx, userId);
        return isChanged;
      }),
  };
}

/** Whoever is inside is out. True where more than the password had to go, and went. */
async function emptyAccount(
  { rowMacKey, notices }: UserAdministrationOptions,
  tx: PeopleTx,
  id: string,
  withSecondFactors: boolean,
): Promise<boolean> {
  await lockUser(tx, id);
  // Whoever is inside may be about to give the account another address.
  await deleteEmailChange(tx, id);
  const row = await findAddressOf(tx, id);
  const isVerified = row !== undefined && row.email_verified_at !== null && isAddressSound(rowMacKey, row);
  const removesAll = withSecondFactors || !isVerified;
  await deletePassword(tx, id);
  if (removesAll) {
    await deleteAllButPassword(tx, id);
    await deleteDevicesOf(tx, id);
  }
  await deletePortalSessionsOf(tx, id);
  await deleteAllLinksOf(tx, id);
  await notices.tell(tx, id, removesAll ? 'operator_reset_all' : 'operator_reset');
  return removesAll;
}
