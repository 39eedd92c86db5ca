import type pg from 'pg';
import { AppError } from '../../kernel/errors.js';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { connectAsOwner } from '../connect-as-owner.js';
import type { ConnectionTarget } from '../connection.js';
import { DEFAULT_TIME_BOUNDS } from '../connection.js';
import { sqlStateOf, translateDriverFault } from '../faults.js';

/**
 * One connection as the owner, for work that takes as long as it takes: nothing bounds a statement but the keep-alive of
 * the connection.
 */
export async function asOwner<T>(target: ConnectionTarget, act: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAsOwner(target, DEFAULT_TIME_BOUNDS, { query_timeout: 0 });
  try {
    return await act(client);
  } catch (error) {
    throw lostConnection(error);
  } finally {
    // With a copy under way this breaks the connection off, and the server rolls back.
    await client.end().catch(() => {});
  }
}

/**
 * The text of what is copied must not depend on how the server or the role is set up, and a long copy must not be ended
 * by a bound meant for requests.
 */
export const LOCAL_SETTINGS = `
  SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL lock_timeout = '10s';
  SET LOCAL client_encoding = 'UTF8'; SET LOCAL datestyle = 'ISO'; SET LOCAL timezone = 'UTC';
  SET LOCAL bytea_output = 'hex'; SET LOCAL search_path = public; SET LOCAL strongroom.backup = 'on'`;

function lostConnection(error: unknown): unknown {
  if (error instanceof ExitError || error instanceof AppError) return error;
  if (sqlStateOf(error) === '42501') {
    const sentence =
      "This login does not own the schema. Set STRONGROOM_MIGRATION_DATABASE_URL to the owner's address. Nothing was changed.";
    return new ExitError(EXIT.configuration, sentence, error);
  }
  const fault = translateDriverFault(error);
  if (!(fault instanceof AppError) || !isFromDriver(error)) return error;
  return new ExitError(
    EXIT.unavailable,
    'The connection to the database was lost, or somebody held a table for too long. Nothing was kept. Run the command again.',
    error,
  );
}

/** Everything without a SQLSTATE would pass for a broken connection, a mistake of ours too. */
function isFromDriver(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return 'code' in error || /Connection terminated|Client has encountered|Query read timeout/.test(error.message);
}
