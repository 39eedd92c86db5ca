import pg from 'pg';
import type { Secret } from '../kernel/secret.js';
import { translateDriverFault } from './faults.js';
import type { Role } from './scope.js';
import { ENTER_SCOPE } from './scope.js';
import type { Statement, Value } from './statement.js';

/** Where the server is and who signs in. */
export type ConnectionTarget = { readonly url: Secret<string> } | SocketTarget;

export interface SocketTarget {
  readonly socketDir: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export interface TimeBounds {
  readonly acquireMs: number;
  readonly statementMs: number;
  readonly lockMs: number;
}

export const DEFAULT_TIME_BOUNDS: TimeBounds = { acquireMs: 3_000, statementMs: 5_000, lockMs: 3_000 };

/** Past the server's own bound, so that it fires only when the server does not answer at all. */
const SILENCE_GRACE_MS = 2_000;

export function clientConfig(target: ConnectionTarget, bounds: TimeBounds): pg.ClientConfig {
  const address =
    'url' in target
      ? { connectionString: target.url.reveal() }
      : { host: target.socketDir, port: target.port, user: target.user, database: target.database };
  return {
    ...address,
    application_name: 'strongroom',
    connectionTimeoutMillis: bounds.acquireMs,
    query_timeout: bounds.statementMs + SILENCE_GRACE_MS,
    keepAlive: true,
  };
}

export function createPool(target: ConnectionTarget, bounds: TimeBounds, connectionsMax: number): pg.Pool {
  const pool = new pg.Pool({ ...clientConfig(target, bounds), pipeline: true, max: connectionsMax } as pg.PoolConfig);
  // A connection that breaks tells whoever waits for an answer on it; a connection nobody waits on is simply dropped.
  const ignore = (): void => {};
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  return pool;
}

/**
 * What is sent in this turn of the event loop leaves in one write: each would be a call into the kernel of its own. The
 * stream is the driver's inside; a driver that hides it one day only loses the saving.
 */
function sendTogether(client: pg.ClientBase): void {
  const { connection } = client as { connection?: { stream?: { cork?(): void; uncork(): void } } };
  const stream = connection?.stream;
  if (stream?.cork === undefined) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** Runs a prepared statement; what the driver throws leaves here translated. */
export async function runStatement<Row>(
  client: pg.ClientBase,
  statement: Statement<Row>,
  values: readonly Value[],
): Promise<Row[]> {
  sendTogether(client);
  try {
    const result = await client.query({ name: statement.name, text: statement.text, values: [...values] });
    return result.rows as Row[]; // The statement's definition names the columns it selects.
  } catch (error) {
    throw translateDriverFault(error);
  }
}

/** Sends BEGIN and the scope without waiting: the statements that follow travel in the same flight. */
export function openScope(
  client: pg.ClientBase,
  scope: { readonly role: Role; readonly tenants: readonly string[]; readonly isReadOnly: boolean },
  bounds: TimeBounds,
): Promise<unknown> {
  sendTogether(client);
  // What is only read is read as of one moment, so that a page and its total never contradict each other.
  const begun = client.query(scope.isReadOnly ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN');
  const entered = client.query({
    name: ENTER_SCOPE.name,
    text: ENTER_SCOPE.text,
    values: [
      scope.role,
      scope.tenants.join(','),
      String(bounds.statementMs),
      String(bounds.lockMs),
      String(bounds.statementMs),
    ],
  });
  const opened = Promise.all([begun, entered]).catch((error: unknown) => {
    throw translateDriverFault(error);
  });
  // Awaited by the caller after its own statements, which fail too; until then the rejection is not unhandled.
  opened.catch(() => {});
  return opened;
}
