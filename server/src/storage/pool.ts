import pg from 'pg';
import type { ConnectionTarget, Endpoints, TimeBounds } from './connection.js';
import { endpointsOf } from './connection.js';
import { isOfNoUse } from './faults.js';
import type { HostChoice } from './host-choice.js';
import { checkSession, createHostChoice } from './host-choice.js';

export interface ConnectionPool {
  /** A connection to a fitting host, within the time to acquire one, or a rejection. */
  connect(): Promise<pg.PoolClient>;
  /** What this connection answered says that its host no longer fits. */
  doubt(client: pg.PoolClient): void;
  end(): Promise<void>;
}

/** Where the connections of all pools of one process lead. */
export interface Servers {
  readonly endpoints: Endpoints;
  readonly choice: HostChoice;
}

interface Origin {
  readonly host: ReturnType<HostChoice['current']>;
  readonly epoch: number;
}

export function serversOf(target: ConnectionTarget, bounds: TimeBounds): Servers {
  const endpoints = endpointsOf(target);
  return { endpoints, choice: createHostChoice(endpoints, bounds) };
}

export function createPool(
  target: ConnectionTarget,
  bounds: TimeBounds,
  connectionsMax: number,
  { endpoints, choice }: Servers = serversOf(target, bounds),
): ConnectionPool {
  const { sessionAttrs, hosts } = endpoints;
  const origins = new WeakMap<pg.ClientBase, Origin>();

  /** The pool makes its connections through this: each goes to the host that is chosen at that moment. */
  class Connection extends pg.Client {
    constructor() {
      const origin = { host: choice.current(), epoch: choice.epoch() };
      super({ ...endpoints.configFor(origin.host, bounds), pipeline: true });
      origins.set(this, origin);
    }
  }

  function doubt(client: pg.ClientBase): void {
    const origin = origins.get(client);
    if (origin) choice.doubt(origin.host);
  }

  const pool = new pg.Pool({
    Client: Connection,
    max: connectionsMax,
    connectionTimeoutMillis: bounds.acquireMs,
    ...(sessionAttrs !== 'any' && {
      verify: (client: pg.PoolClient, done: (error?: Error) => void) => {
        checkSession(client, sessionAttrs).then(
          () => done(),
          (error: unknown) => {
            doubt(client);
            done(error instanceof Error ? error : new Error(String(error)));
          },
        );
      },
    }),
  });
  // A connection that breaks tells whoever waits for an answer on it; a connection nobody waits on is simply dropped.
  const ignore = (): void => {};
  pool.on('error', (_error, client) => doubt(client));
  pool.on('connect', (client) => client.on('error', ignore));

  /** A connection to the host that is chosen now; those to an earlier one are closed as they turn up. */
  async function takeFitting(isLate: () => boolean): Promise<pg.PoolClient> {
    for (;;) {
      const client = await pool.connect();
      if (isLate() || origins.get(client)?.epoch === choice.epoch()) return client;
      client.release(true);
    }
  }

  /** The host that was good last, and if that fails, once more with the one that is good now. */
  async function takeFromAny(isLate: () => boolean): Promise<pg.PoolClient> {
    await choice.settle();
    const tried = choice.current();
    try {
      return await takeFitting(isLate);
    } catch (error) {
      if (isLate() || hosts.length === 1 || !isOfNoUse(error)) throw error;
      choice.doubt(tried);
      await choice.settle();
      return takeFitting(isLate);
    }
  }

  function connectInTime(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new Error('no host of the address gave a connection in time'));
      }, bounds.acquireMs);
      takeFromAny(() => isLate)
        .then((client) => {
          if (isLate) client.release();
          else resolve(client);
        }, reject)
        .finally(() => clearTimeout(timer));
    });
  }

  return {
    // The driver's own bound ends before the server is asked what it is.
    connect: () => (hosts.length === 1 && sessionAttrs === 'any' ? pool.connect() : connectInTime()),
    doubt,
    end: () => pool.end(),
  };
}
