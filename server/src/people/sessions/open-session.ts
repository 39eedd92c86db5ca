import type { PeopleTx } from '../../storage/scope.js';
import { lockUser } from '../users/lock-queries.js';
import { notSignedIn } from './not-signed-in.js';
import type { PortalSessions, SignedIn } from './portal-sessions.js';

export interface OpenSessionOptions {
  readonly sessions: Pick<PortalSessions, 'hold'>;
}

/**
 * Every change of an account by its user begins here. The session was good at the door; whoever threw it out since then has ended
 * it under this lock, and what the change would add must not outlive that. The user and the session are locked. Returns the session
 * as it is now.
 */
export async function requireOpenSession(
  { sessions }: OpenSessionOptions,
  tx: PeopleTx,
  signedIn: Pick<SignedIn, 'userId' | 'sessionId'>,
): Promise<SignedIn> {
  await lockUser(tx, signedIn.userId);
  const now = await sessions.hold(tx, signedIn);
  if (!now) throw notSignedIn();
  return now;
}
