/**
 * What is stored is not what was sealed: a changed bit, a swapped row, the wrong key. The message says where it was
 * noticed and never what was read, so it may be logged as it is.
 */
export class IntegrityError extends Error {
  override readonly name = 'IntegrityError';
}
