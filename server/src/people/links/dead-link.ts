import { AppError } from '../../kernel/errors.js';

/** The same words for one that is unknown, used, replaced or over. */
export function deadLink(): AppError {
  return new AppError('not_found', 'This link does not work: it was used, replaced, or is too old. Ask for a new one.');
}
