import { isStoredPassword } from '../crypto/password-hash.js';
import { definePeopleTable } from '../tables/people-table.js';
import { isChangeSound } from './email-change/stored-change.js';
import { createAuthenticatorCheck } from './factors/one-time-codes.js';
import { isLinkSound } from './links/links.js';
import { isIdentitySound } from './oidc/user-identities.js';
import { isChallengeSound } from './passkeys/challenges.js';
import { isPasskeySound } from './passkeys/user-passkeys.js';
import { isPortalSessionSound } from './sessions/portal-sessions.js';
import {
  listAddressMacs,
  listChallengeMacs,
  listEmailChangeMacs,
  listIdentityMacs,
  listLinkMacs,
  listPasskeyMacs,
  listPasswordHashes,
  listPortalSessionMacs,
  listSealedAuthenticators,
} from './table-queries.js';
import { isAddressSound } from './users/address-mac.js';

const idOf = ({ id }: { readonly id: string }): string => id;
const userOf = ({ user_id: userId }: { readonly user_id: string }): string => userId;

/**
 * What of people is sealed or carries a MAC. Rows that have expired are looked at as well: they are as they were written until
 * they are removed. Recovery codes, browsers and failed sign-ins are keyed hashes of what only others know.
 */
export const PEOPLE_TABLES = [
  definePeopleTable({
    name: 'users',
    list: listAddressMacs,
    placeOf: idOf,
    check: (key) => (row) => isAddressSound(key, row),
  }),
  definePeopleTable({
    name: 'user_passwords',
    list: listPasswordHashes,
    placeOf: userOf,
    // Whether it fits a password, only whoever knows the password can tell.
    check: () => (row) => isStoredPassword(row.hash),
  }),
  definePeopleTable({
    name: 'portal_sessions',
    list: listPortalSessionMacs,
    placeOf: idOf,
    check: (key) => (row) => isPortalSessionSound(key, row),
  }),
  definePeopleTable({
    name: 'user_links',
    list: listLinkMacs,
    placeOf: ({ hash }) => hash.toString('hex'),
    check: (key) => (row) => isLinkSound(key, row),
  }),
  definePeopleTable({
    name: 'user_authenticators',
    list: listSealedAuthenticators,
    placeOf: userOf,
    check: (key) => {
      const opens = createAuthenticatorCheck(key);
      return ({ user_id: userId, sealed, pending }) =>
        (sealed === null || opens(userId, sealed, 'secret')) &&
        (pending === null || opens(userId, pending, 'offered secret'));
    },
  }),
  definePeopleTable({
    name: 'user_passkeys',
    list: listPasskeyMacs,
    placeOf: idOf,
    check: (key) => (row) => isPasskeySound(key, row),
  }),
  definePeopleTable({
    name: 'passkey_challenges',
    list: listChallengeMacs,
    placeOf: ({ hash }) => hash.toString('hex'),
    check: (key) => (row) => isChallengeSound(key, row),
  }),
  definePeopleTable({
    name: 'user_identities',
    list: listIdentityMacs,
    placeOf: idOf,
    check: (key) => (row) => isIdentitySound(key, row),
  }),
  definePeopleTable({
    name: 'email_changes',
    list: listEmailChangeMacs,
    placeOf: userOf,
    check: (key) => (row) => isChangeSound(key, row),
  }),
];
