import pg from 'pg';
import type { Host, SessionAttrs } from './address.js';
import type { Endpoints, TimeBounds } from './connection.js';
import { sqlStateOf } from './faults.js';

/** Which of the hosts of an address is used now. */
export interface HostChoice {
  readonly current: () => Host;
  /** Grows when another host is chosen: connections made before lead to one that is no longer meant. */
  readonly epoch: () => number;
  /** Resolves once a suitable host is known; concurrent callers share the search. */
  settle(): Promise<void>;
  /** This host failed: look at all of them before the next connection. */
  doubt(host: Host): void;
}

/** How long the other hosts may take to answer once one has said yes. */
const SETTLE_MS = 250;

const TOO_MANY_CONNECTIONS = '53300';

/** What a fitting host answers, by what is asked of it; nothing is asked where any will do. */
const QUESTIONS: Readonly<Record<Exclude<SessionAttrs, 'any'>, { readonly text: string; readonly answer: string }>> = {
  'read-write': { text: 'SHOW transaction_read_only', answer: 'off' },
  primary: { text: 'SELECT pg_is_in_recovery()::text AS is_standby', answer: 'false' },
};

/** The timeline grows with every promotion: of two servers of one cluster that take changes, the newer one has more. */
const FIND_ORIGIN = `SELECT system_identifier::text,
  ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int FROM pg_control_system()`;

interface Fit {
  readonly host: Host;
  readonly cluster: string;
  readonly timeline: number;
}

/** Where it does not matter, or where the server keeps it to itself, as some services do. */
const NO_ORIGIN = { cluster: '', timeline: 0 };

/** Throws unless the server behind this connection is of the kind that is asked for. */
export async function checkSession(client: pg.ClientBase, sessionAttrs: SessionAttrs): Promise<void> {
  if (sessionAttrs === 'any') return;
  const { text, answer } = QUESTIONS[sessionAttrs];
  const { rows } = await client.query<string[]>({ text, rowMode: 'array' });
  if (rows[0]?.[0] !== answer) throw new Error(`the server is not ${sessionAttrs}`);
}

/** The statement that proves a connection alive and, where that is asked, its server fitting. */
export async function checkAlive(client: pg.ClientBase, sessionAttrs: SessionAttrs): Promise<void> {
  if (sessionAttrs === 'any') await client.query('SELECT 1');
  else await checkSession(client, sessionAttrs);
}

/**
 * All hosts are asked at once, so that a dead one costs no time of its own. Of those that fit the one promoted last is
 * taken, then the first in the order of the address, so that several processes take the same. An old primary that comes
 * back is ignored while the new one answers, and always by a process that has seen the new one.
 */
export function createHostChoice(endpoints: Endpoints, bounds: TimeBounds): HostChoice {
  const { hosts, sessionAttrs } = endpoints;
  let current = hosts[0];
  let isKnown = hosts.length === 1;
  let epoch = 0;
  /** By cluster: a new cluster, as an upgrade makes it, starts with a new timeline. */
  const newestTimelines = new Map<string, number>();
  let looking: Promise<void> | undefined;

  async function askHost(host: Host): Promise<Fit> {
    const config = endpoints.configFor(host, bounds);
    const client = new pg.Client({ ...config, query_timeout: config.connectionTimeoutMillis });
    client.on('error', () => {});
    try {
      await client.connect();
      await checkSession(client, sessionAttrs);
      return { host, ...(sessionAttrs === 'any' ? NO_ORIGIN : await originOf(client)) };
    } finally {
      void client.end().catch(() => {});
    }
  }

  async function look(): Promise<void> {
    let isCurrentFull = false;
    const fits = (host: Host): Promise<Fit | undefined> =>
      askHost(host).catch((error: unknown) => {
        if (host === current && sqlStateOf(error) === TOO_MANY_CONNECTIONS) isCurrentFull = true;
        return undefined;
      });
    const fitting = await yesInTime(hosts.map(fits));
    for (const { cluster, timeline } of fitting) {
      newestTimelines.set(cluster, Math.max(timeline, newestTimelines.get(cluster) ?? 0));
    }
    const found = fitting.find(({ cluster, timeline }) => timeline === newestTimelines.get(cluster));
    // The host is alive but cannot be asked now: existing connections stay in use, and the next caller asks again.
    if (found === undefined && isCurrentFull) return;
    if (found === undefined) throw new Error(`none of the hosts of the address is reachable and ${sessionAttrs}`);
    isKnown = true;
    if (found.host === current) return;
    current = found.host;
    epoch += 1;
  }

  return {
    current: () => current,
    epoch: () => epoch,
    settle() {
      if (isKnown) return Promise.resolve();
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
    doubt(host) {
      if (hosts.length > 1 && host === current) isKnown = false;
    },
  };
}

/** A connection of its own to the host that fits now. */
export async function connectToFitting(
  endpoints: Endpoints,
  bounds: TimeBounds,
  more: pg.ClientConfig = {},
): Promise<{ readonly client: pg.Client; readonly host: Host }> {
  const choice = createHostChoice(endpoints, bounds);
  await choice.settle();
  const host = choice.current();
  const client = new pg.Client({ ...endpoints.configFor(host, bounds), ...more });
  client.on('error', () => {});
  try {
    await client.connect();
    await checkSession(client, endpoints.sessionAttrs);
  } catch (error) {
    void client.end().catch(() => {});
    throw error;
  }
  return { client, host };
}

async function originOf(client: pg.ClientBase): Promise<Pick<Fit, 'cluster' | 'timeline'>> {
  try {
    const { rows } = await client.query<[string, number]>({ text: FIND_ORIGIN, rowMode: 'array' });
    const [cluster, timeline] = rows[0] ?? ['', 0];
    return { cluster, timeline };
  } catch (error) {
    if (sqlStateOf(error) === undefined) throw error;
    return NO_ORIGIN;
  }
}

/** All suitable hosts, in order; once one has answered, the others get only a moment more. */
function yesInTime<T>(answers: readonly Promise<T | undefined>[]): Promise<T[]> {
  const known: (T | undefined)[] = answers.map(() => undefined);
  return new Promise((resolve) => {
    let open = answers.length;
    let settling: NodeJS.Timeout | undefined;
    const conclude = (): void => resolve(known.filter((answer) => answer !== undefined));
    answers.forEach((answer, index) => {
      void answer.then((value) => {
        known[index] = value;
        open -= 1;
        if (value !== undefined) settling ??= setTimeout(conclude, SETTLE_MS);
        if (open > 0) return;
        clearTimeout(settling);
        conclude();
      });
    });
  });
}
