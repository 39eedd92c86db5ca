import { IntegrityError } from '../crypto/integrity-error.js';
import { RootKeyChanged } from '../crypto/key-store.js';
import { AppError } from '../kernel/errors.js';

const ATTEMPTS_MAX = 30;
const REST_MS = 1_000;

export type Wait = (ms: number) => Promise<void>;

/**
 * Tries again while the store is out of reach: a rotation may run for hours, and a restart of the database is no reason
 * to give up. Every step may run twice, so an unknown outcome is tried again too.
 */
export async function retryWhileUnreachable<T>(wait: Wait, act: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (!isPassing(error) || attempt === ATTEMPTS_MAX) throw error;
      await wait(REST_MS);
    }
  }
}

const ROWS_MIN = 16;

/**
 * Goes through rows in batches that get smaller after each failure: tokens may be a thousand times larger than usual, and a
 * batch of those that outlasts the bounds of a statement would do so every time.
 */
export function createBatches(wait: Wait, rowsMax: number): <T>(act: (rows: number) => Promise<T>) => Promise<T> {
  let rows = rowsMax;
  return (act) =>
    retryWhileUnreachable(wait, async () => {
      try {
        return await act(rows);
      } catch (error) {
        if (isPassing(error)) rows = Math.min(rows, Math.max(ROWS_MIN, Math.floor(rows / 2)));
        throw error;
      }
    });
}

function isPassing(error: unknown): boolean {
  if (!(error instanceof AppError)) return false;
  // Neither damage nor another root key passes by itself.
  if (error.cause instanceof IntegrityError || error.cause instanceof RootKeyChanged) return false;
  return error.code === 'storage_unavailable' || error.code === 'overloaded';
}
