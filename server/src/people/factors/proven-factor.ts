import { AppError } from '../../kernel/errors.js';
import type { PeopleTx } from '../../storage/scope.js';
import type { OpenSessionOptions } from '../sessions/open-session.js';
import { requireOpenSession } from '../sessions/open-session.js';
import type { PortalSessions, SignedIn } from '../sessions/portal-sessions.js';
import type { Entered, Entrance, Visitor } from '../sign-in/entrance.js';
import type { SecondFactorState } from './second-factor-queries.js';
import { findSecondFactor } from './second-factor-queries.js';

export interface SecondFactorOptions {
  /** Issuers whose word stands for a second factor, as they write themselves. */
  readonly secondFactorIssuers: () => readonly string[];
}

export type ProvenFactorOptions = OpenSessionOptions & SecondFactorOptions;

/**
 * Before what a user signs in with is changed: who has a second factor has to have proven it with this session. Otherwise whoever
 * knows the password alone would add a factor of its own, and be taken for somebody who has two. The session has to be there still.
 */
export async function requireProvenFactor(
  options: ProvenFactorOptions,
  tx: PeopleTx,
  signedIn: SignedIn,
): Promise<SecondFactorState> {
  await requireOpenSession(options, tx, signedIn);
  const state = await findSecondFactor(tx, signedIn.userId, options.secondFactorIssuers());
  if (!state.has_factor || signedIn.hasSecondFactor) return state;
  throw new AppError(
    'second_factor_required',
    'You have a second factor. Sign in with it, then change what you sign in with.',
  );
}

export interface ReentryOptions extends SecondFactorOptions {
  readonly sessions: Pick<PortalSessions, 'endAll'>;
  readonly entrance: Entrance;
}

/**
 * After such a change: every session ends, among them those that were opened with what is gone. This browser gets one in the place
 * of its own, which says `proven`, for no longer and as fresh as that was. A second factor counts as long as there is one.
 */
export async function enterAgain(
  { sessions, entrance, secondFactorIssuers }: ReentryOptions,
  tx: PeopleTx,
  proven: SignedIn,
  visitor: Visitor,
): Promise<Entered> {
  const { userId, signedInAtMs: provenAtMs } = proven;
  const { has_factor: hasFactor } = await findSecondFactor(tx, userId, secondFactorIssuers());
  await sessions.endAll(tx, userId);
  const hasSecondFactor = hasFactor && proven.hasSecondFactor;
  return entrance.enter(tx, { ...proven, provenAtMs, hasSecondFactor, occasion: 'signed in already' }, visitor);
}
