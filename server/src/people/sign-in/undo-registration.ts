import type { Database } from '../../storage/database.js';
import { isStillReferred } from '../../storage/faults.js';
import { deleteEmailChange } from '../email-change/queries.js';
import { deleteAllLinksOf } from '../links/queries.js';
import type { PeopleSecurity } from '../security.js';
import { deletePortalSessionsOf } from '../sessions/queries.js';
import { deleteAllButPassword, deleteDevicesOf, deletePassword, deleteUser } from '../users/administration-queries.js';
import { lockUser } from '../users/lock-queries.js';

export interface UndoRegistrationOptions {
  readonly database: Database;
  readonly security: Pick<PeopleSecurity, 'onSignIn'>;
}

/** Takes back an account that was made a moment ago. One that became a member nevertheless stays as it is. */
export type UndoRegistration = (userId: string, address: string | undefined) => Promise<void>;

export function createUndoRegistration({ database, security }: UndoRegistrationOptions): UndoRegistration {
  return async (userId, address) => {
    try {
      await database.people(async (tx) => {
        await lockUser(tx, userId);
        await deleteEmailChange(tx, userId);
        await deleteAllLinksOf(tx, userId);
        await deletePortalSessionsOf(tx, userId);
        await deleteDevicesOf(tx, userId);
        await deletePassword(tx, userId);
        await deleteAllButPassword(tx, userId);
        await deleteUser(tx, userId);
      });
    } catch (error) {
      // The answer to the commit of the membership was lost, and it had been made.
      if (isStillReferred(error)) return;
      throw error;
    }
    security.onSignIn({ event: 'registration_undone', userId, address });
  };
}
