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

/** How long a server that refused a further connection is taken at its word. */
const REFUSED_REST_MS = 1_000;

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
  /** Connections on their way: the pool counts them with those it has. */
  let opening = 0;
  let regrowth: NodeJS.Timeout | undefined;

  /** The pool makes its connections through this: each goes to the host that is chosen at that moment. */
  class Connection extends pg.Client {
    constructor() {
      const origin = { host: choice.current(), epoch: choice.epoch() };
      super({ ...endpoints.configFor(origin.host, bounds), pipeline: true });
      origins.set(this, origin);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      if (callback === undefined) return super.connect();
      opening += 1;
      super.connect((error: Error) => {
        opening -= 1;
        callback(error);
      });
      return undefined;
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

  /**
   * A server that lives and refuses a further connection, because others have used them up, leaves us those we have: for a
   * while they are all the pool may hold, so that whoever needs one waits until one is free.
   */
  async function takeOwn(isLate: () => boolean): Promise<pg.PoolClient> {
    for (;;) {
      try {
        return await pool.connect();
      } catch (error) {
        const open = pool.totalCount - opening;
        if (isLate() || open === 0 || isOfNoUse(error)) throw error;
        pool.options.max = open;
        regrowth ??= setTimeout(regrow, REFUSED_REST_MS).unref();
      }
    }
  }

  function regrow(): void {
    regrowth = undefined;
    pool.options.max = connectionsMax;
    // Those who wait are not told that there may be room again: one more connection, given back at once, is theirs.
    if (pool.waitingCount > 0) pool.connect().then((client) => client.release(), ignore);
  }

  /** A connection to the host that is chosen now; those to an earlier one are closed as they turn up. */
  async function takeFitting(isLate: () => boolean): Promise<pg.PoolClient> {
    for (;;) {
      const client = await takeOwn(isLate);
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

  /** The driver's own bound begins anew with each attempt, and ends before the server is asked what it is. */
  function connectInTime(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new Error('no connection was to be had in time'));
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
    // One that rests is taken as it is, unless it has to be found out whether it still leads to the right host.
    connect: () =>
      hosts.length === 1 && sessionAttrs === 'any' && pool.idleCount > pool.waitingCount
        ? pool.connect()
        : connectInTime(),
    doubt,
    end() {
      clearTimeout(regrowth);
      return pool.end();
    },
  };
}
