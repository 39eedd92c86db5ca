import { RootKeyChanged } from '../crypto/key-store.js';
import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';

/** Runs work that can be resumed. If the database or the root key is lost on the way, the message says so. */
export async function resumable<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'storage_unavailable') throw error;
    if (error.cause instanceof RootKeyChanged) {
      throw new ExitError(
        EXIT.configuration,
        'The root key was changed while this ran. What was done is kept: run the same command again with the new root key, and it goes on.',
        error,
      );
    }
    throw new ExitError(
      EXIT.unavailable,
      'The database was lost on the way and did not come back in time. What was done is kept: run the same command again, and it goes on.',
      error,
    );
  }
}
