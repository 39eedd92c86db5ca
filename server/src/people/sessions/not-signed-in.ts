import { AppError } from '../../kernel/errors.js';

/** The same words for a session that never was and for one that has ended. */
export function notSignedIn(): AppError {
  return new AppError('invalid_portal_session', 'There is no Portal session, or it is over. Sign in to the Portal.');
}
