/**
 * What is stored is not what was sealed: a changed bit, a swapped row, the wrong key. The message says where it was
 * noticed and never what was read, so it may be logged as it is.
 */
export class IntegrityError extends Error {
  override readonly name = 'IntegrityError';
}

/** Whether it opens. What else can fail is thrown. */
export function isOpened(open: () => unknown): boolean {
  try {
    open();
    return true;
  } catch (error) {
    if (error instanceof IntegrityError) return false;
    throw error;
  }
}
