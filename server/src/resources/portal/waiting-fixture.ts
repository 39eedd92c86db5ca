import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';

type OfDatabase = Pick<TestApp, 'db'>;

/** Comes back once so many statements wait for a lock. */
export async function somebodyWaits({ db }: OfDatabase, count = 1): Promise<void> {
  await eventually('somebody waits for a lock', async () => {
    await db.owner.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await db.owner.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length >= count;
  });
}

/** Holds what `hold` locks or changes until the request that is sent meanwhile waits for it, and does `then` before it goes on. */
export async function whileHeld<T>(
  app: OfDatabase,
  hold: () => Promise<unknown>,
  send: () => Promise<T>,
  then?: () => Promise<unknown>,
): Promise<T> {
  const { owner } = app.db;
  await owner.query('BEGIN');
  await hold();
  const sent = send();
  await somebodyWaits(app);
  await then?.();
  await owner.query('COMMIT');
  return sent;
}
