import { AppError } from '../../kernel/errors.js';

/** The same words for every cause. */
export function wrongSignIn(): AppError {
  return new AppError(
    'invalid_portal_session',
    'E-mail, password or one-time code is wrong. Check them and try again.',
  );
}
