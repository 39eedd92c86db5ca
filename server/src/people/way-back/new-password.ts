import type { Clock } from '../../kernel/clock.js';
import type { PeopleTx } from '../../storage/scope.js';
import { deleteEmailChange } from '../email-change/queries.js';
import type { Links } from '../links/links.js';
import { PASSWORD_LINKS } from '../links/links.js';
import type { Notices } from '../notices/notices.js';
import type { PortalSessions } from '../sessions/portal-sessions.js';
import { setPassword } from '../sign-in/queries.js';
import { lockUser } from '../users/lock-queries.js';

export interface NewPasswordOptions {
  readonly clock: Clock;
  readonly links: Pick<Links, 'drop'>;
  readonly notices: Pick<Notices, 'tell'>;
  readonly sessions: Pick<PortalSessions, 'endAll'>;
}

/** Stores a hash in place of the one before. */
export type ReplacePassword = (
  tx: PeopleTx,
  userId: string,
  hash: string,
  change: 'password_changed' | 'password_reset',
) => Promise<void>;

/**
 * Whoever knew the old password is out: its sessions, the links it may have asked for, and the address it may be about to give
 * the account.
 */
export function createReplacePassword({ clock, links, notices, sessions }: NewPasswordOptions): ReplacePassword {
  return async (tx, userId, hash, change) => {
    await lockUser(tx, userId);
    await deleteEmailChange(tx, userId);
    await links.drop(tx, userId, PASSWORD_LINKS);
    await setPassword(tx, userId, hash, clock.nowMs());
    await sessions.endAll(tx, userId);
    await notices.tell(tx, userId, change);
  };
}
