import pg from 'pg';
import type { Host, SessionAttrs } from './address.js';
import type { Endpoints, TimeBounds } from './connection.js';

/** Which of the hosts of an address is used now. */
export interface HostChoice {
  readonly current: () => Host;
  /** Grows when another host is chosen: connections made before lead to one that is no longer meant. */
  readonly epoch: () => number;
  /** Resolves once a fitting host is known; whoever asks while it is looked for shares the look. */
  settle(): Promise<void>;
  /** This host failed: look at all of them before the next connection. */
  doubt(host: Host): void;
}

/** How long a host that stands first may take to answer once a later one has said yes. */
const PATIENCE_MS = 250;

/** What a fitting host answers, by what is asked of it; nothing is asked where any will do. */
const QUESTIONS: Readonly<Record<Exclude<SessionAttrs, 'any'>, { readonly text: string; readonly answer: string }>> = {
  'read-write': { text: 'SHOW transaction_read_only', answer: 'off' },
  primary: { text: 'SELECT pg_is_in_recovery()::text AS is_standby', answer: 'false' },
};

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
 * All hosts are asked at once, so that a dead one costs no time of its own. The first in the order of the address that
 * fits is taken, so that several processes take the same.
 */
export function createHostChoice(endpoints: Endpoints, bounds: TimeBounds): HostChoice {
  const { hosts, sessionAttrs } = endpoints;
  let current = hosts[0];
  let isKnown = hosts.length === 1;
  let epoch = 0;
  let looking: Promise<void> | undefined;

  async function fits(host: Host): Promise<Host | undefined> {
    const config = endpoints.configFor(host, bounds);
    const client = new pg.Client({ ...config, query_timeout: config.connectionTimeoutMillis });
    client.on('error', () => {});
    try {
      await client.connect();
      await checkSession(client, sessionAttrs);
      return host;
    } catch {
      return undefined;
    } finally {
      void client.end().catch(() => {});
    }
  }

  async function look(): Promise<void> {
    const found = await firstInOrder(hosts.map(fits));
    if (found === undefined) throw new Error(`none of the hosts of the address is reachable and ${sessionAttrs}`);
    isKnown = true;
    if (found === current) return;
    current = found;
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
): Promise<{ readonly client: pg.Client; readonly host: Host }> {
  const choice = createHostChoice(endpoints, bounds);
  await choice.settle();
  const host = choice.current();
  const client = new pg.Client(endpoints.configFor(host, bounds));
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

/** The earliest yes; one that is not the first of its list waits a moment for those before it. */
function firstInOrder<T>(answers: readonly Promise<T | undefined>[]): Promise<T | undefined> {
  const open = Symbol('open');
  const known: (T | undefined | typeof open)[] = answers.map(() => open);
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const decide = (isPatient: boolean): void => {
      const standing = isPatient ? known.slice(0, known.includes(open) ? known.indexOf(open) : undefined) : known;
      const yes = standing.find((answer) => answer !== undefined && answer !== open);
      if (yes !== undefined && yes !== open) resolve(yes);
      else if (!known.includes(open)) resolve(undefined);
      else if (known.some((answer) => answer !== undefined && answer !== open)) {
        timer ??= setTimeout(() => decide(false), PATIENCE_MS);
        return;
      } else return;
      clearTimeout(timer);
    };
    answers.forEach((answer, index) => {
      void answer.then((value) => {
        known[index] = value;
        decide(true);
      });
    });
  });
}
