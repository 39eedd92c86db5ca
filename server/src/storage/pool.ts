import pg from 'pg';
import type { ConnectionTarget, Endpoints, TimeBounds } from './connection.js';
import { endpointsOf } from './connection.js';
import { isOfNoUse } from './faults.js';
import type { HostChoice } from './host-choice.js';
import { checkSession, createHostChoice } from './host-choice.js';

/** Where the connections of all pools of one process lead. */
export interface Servers {
  readonly endpoints: Endpoints;
  readonly choice: HostChoice;
}

interface Origin {
  readonly host: ReturnType<HostChoice['current']>;
  readonly epoch: number;
}

/** What a pool knows of the connections it made. */
interface Made {
  readonly origins: WeakMap<pg.ClientBase, Origin>;
  /** Connections on their way: the driver's pool counts them with those it has. */
  opening: number;
}

/** How long no further connection is tried after the server refused one. */
const REFUSED_REST_MS = 1_000;

export function serversOf(target: ConnectionTarget, bounds: TimeBounds): Servers {
  const endpoints = endpointsOf(target);
  return { endpoints, choice: createHostChoice(endpoints, bounds) };
}

/** The driver's pool, with connections to the host that fits at the moment. */
export class ConnectionPool {
  readonly #bounds: TimeBounds;
  readonly #connectionsMax: number;
  readonly #endpoints: Endpoints;
  readonly #choice: HostChoice;
  readonly #made: Made = { origins: new WeakMap(), opening: 0 };
  readonly #pool: pg.Pool;
  #regrowth: NodeJS.Timeout | undefined;

  constructor(
    target: ConnectionTarget,
    bounds: TimeBounds,
    connectionsMax: number,
    servers: Servers = serversOf(target, bounds),
  ) {
    this.#bounds = bounds;
    this.#connectionsMax = connectionsMax;
    this.#endpoints = servers.endpoints;
    this.#choice = servers.choice;
    const isAnyFit = servers.endpoints.sessionAttrs === 'any';
    this.#pool = new pg.Pool({
      Client: clientFor(servers, bounds, this.#made),
      max: connectionsMax,
      connectionTimeoutMillis: bounds.acquireMs,
      ...(!isAnyFit && { verify: (client: pg.PoolClient, done: Verified) => this.#verify(client, done) }),
    });
    // If a connection breaks, the query waiting on it fails; an idle connection is simply dropped.
    this.#pool.on('error', (_error, client) => this.doubt(client));
    this.#pool.on('connect', (client) => client.on('error', ignore));
  }

  /** A connection to a fitting host, within the time to acquire one, or a rejection. */
  connect(): Promise<pg.PoolClient> {
    // An idle connection is used as it is, unless its host has to be checked again.
    const { hosts, sessionAttrs } = this.#endpoints;
    return hosts.length === 1 && sessionAttrs === 'any' && this.#pool.idleCount > this.#pool.waitingCount
      ? this.#pool.connect()
      : this.#connectInTime();
  }

  /** What this connection answered says that its host no longer fits. */
  doubt(client: pg.ClientBase): void {
    const origin = this.#made.origins.get(client);
    if (origin) this.#choice.doubt(origin.host);
  }

  end(): Promise<void> {
    clearTimeout(this.#regrowth);
    return this.#pool.end();
  }

  #verify(client: pg.PoolClient, done: Verified): void {
    checkSession(client, this.#endpoints.sessionAttrs).then(
      () => done(),
      (error: unknown) => {
        this.doubt(client);
        done(error instanceof Error ? error : new Error(String(error)));
      },
    );
  }

  /** The driver's own timeout starts again with each attempt, and does not cover the check of the server. */
  #connectInTime(): Promise<pg.PoolClient> {
    return new Promise((resolve, reject) => {
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        reject(new Error('no connection was to be had in time'));
      }, this.#bounds.acquireMs);
      this.#takeFromAny(() => isLate)
        .then((client) => {
          if (isLate) client.release();
          else resolve(client);
        }, reject)
        .finally(() => clearTimeout(timer));
    });
  }

  /** First the host that was used last; if that fails, once more with the host chosen now. */
  async #takeFromAny(isLate: () => boolean): Promise<pg.PoolClient> {
    await this.#choice.settle();
    const tried = this.#choice.current();
    try {
      return await this.#takeFitting(isLate);
    } catch (error) {
      if (isLate() || this.#endpoints.hosts.length === 1 || !isOfNoUse(error)) throw error;
      this.#choice.doubt(tried);
      await this.#choice.settle();
      return this.#takeFitting(isLate);
    }
  }

  /** A connection to the host that is chosen now; those to an earlier one are closed as they turn up. */
  async #takeFitting(isLate: () => boolean): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#takeOwn(isLate);
      if (isLate() || this.#made.origins.get(client)?.epoch === this.#choice.epoch()) return client;
      client.release(true);
    }
  }

  /**
   * A server that lives and refuses a further connection, because others have used them up, leaves us those we have:
   * for a while they are all the pool may hold, so that a request waits until one is free.
   */
  async #takeOwn(isLate: () => boolean): Promise<pg.PoolClient> {
    for (;;) {
      try {
        return await this.#pool.connect();
      } catch (error) {
        const open = this.#pool.totalCount - this.#made.opening;
        if (isLate() || open === 0 || isOfNoUse(error)) throw error;
        this.#pool.options.max = open;
        this.#regrowth ??= setTimeout(() => this.#regrow(), REFUSED_REST_MS).unref();
      }
    }
  }

  #regrow(): void {
    this.#regrowth = undefined;
    this.#pool.options.max = this.#connectionsMax;
    // Waiting callers do not notice that there may be room again: opening one connection and returning it at once
    // serves them.
    if (this.#pool.waitingCount > 0) this.#pool.connect().then((client) => client.release(), ignore);
  }
}

type Verified = (error?: Error) => void;

/** The driver's pool makes its connections through this class: each goes to the host that is chosen at that moment. */
function clientFor({ endpoints, choice }: Servers, bounds: TimeBounds, made: Made): typeof pg.Client {
  return class Connection extends pg.Client {
    constructor() {
      const origin = { host: choice.current(), epoch: choice.epoch() };
      super({ ...endpoints.configFor(origin.host, bounds), pipeline: true });
      made.origins.set(this, origin);
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: (error: Error) => void): void;
    override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
      if (callback === undefined) return super.connect();
      made.opening += 1;
      super.connect((error: Error) => {
        made.opening -= 1;
        callback(error);
      });
      return undefined;
    }
  };
}

function ignore(): void {}
