import type { KeyObject } from 'node:crypto';
import type { PasswordHasher } from '../crypto/password-hash.js';
import type { Clock } from '../kernel/clock.js';
import { Secret } from '../kernel/secret.js';
import type { Database } from '../storage/database.js';
import { isUniqueViolation } from '../storage/faults.js';
import type { Links } from './links/links.js';
import { OPERATOR_LINK_MS } from './links/links.js';
import { deleteAllLinksOf } from './links/queries.js';
import type { PeopleSecurity } from './security.js';
import { setPassword } from './sign-in/queries.js';
import { isBeforeSetUp, lockUserBeforeSetUp } from './users/administration-queries.js';
import { setUpUser } from './users/queries.js';

/** The same in every installation, so that of two processes at their first start only one can insert it. */
export const FIRST_OWNER_ID = '00000000-0000-4000-8000-000000000001';

export interface OwnerSignIn {
  readonly email: string;
  readonly password: Secret<string>;
}

/** The owner that the first start makes, as long as it has no way to sign in. */
export interface FirstOwner {
  isWaiting(): Promise<boolean>;
  /** A new set-up link, in place of those of before; undefined once the owner can sign in. */
  makeLink(): Promise<Secret<string> | undefined>;
  /** What the link does, without one: links of before are dead. Nothing for an owner that can sign in. */
  setUp(signIn: OwnerSignIn): Promise<'set up' | 'was set up' | 'address taken'>;
}

export interface FirstOwnerOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly links: Links;
  readonly rowMacKey: KeyObject;
  readonly passwords: Pick<PasswordHasher, 'hash'>;
  readonly security: Pick<PeopleSecurity, 'onSignIn'>;
}

export function createFirstOwner(options: FirstOwnerOptions): FirstOwner {
  const { database, clock, links, rowMacKey, passwords, security } = options;
  const id = FIRST_OWNER_ID;
  return {
    isWaiting: () => database.readPeople((tx) => isBeforeSetUp(tx, id)),

    makeLink: () =>
      database.people(async (tx) => {
        // Locked, because a link to an account that somebody set up meanwhile would take that account over.
        if (!(await lockUserBeforeSetUp(tx, id))) return undefined;
        return links.make(tx, id, 'set-up', OPERATOR_LINK_MS);
      }),

    async setUp({ email, password }) {
      const hash = await passwords.hash(id, new Secret(password.reveal().normalize('NFC')));
      const outcome = await database
        .people(async (tx) => {
          if (!(await lockUserBeforeSetUp(tx, id))) return 'was set up' as const;
          // The operator wrote it into the settings.
          const profile = { email, isEmailVerified: true, firstName: undefined, lastName: undefined };
          await setUpUser(tx, rowMacKey, id, profile, clock.nowMs());
          await setPassword(tx, id, hash, clock.nowMs());
          await deleteAllLinksOf(tx, id);
          return 'set up' as const;
        })
        .catch((error: unknown) => {
          if (isUniqueViolation(error)) return 'address taken' as const;
          throw error;
        });
      if (outcome === 'set up') security.onSignIn({ event: 'set_up', userId: id, address: undefined });
      return outcome;
    },
  };
}
