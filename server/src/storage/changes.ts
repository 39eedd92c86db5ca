import pg from 'pg';
import type { ConnectionTarget } from './connection.js';
import { clientConfig } from './connection.js';
import type { Tx } from './scope.js';
import { statement } from './statement.js';

/** What one process tells the others so that they drop what they remember. */
export interface Change {
  readonly kind: 'tenant' | 'access';
  readonly tenantId: string;
}

export interface ChangeListener {
  /** False while notices may be missed: caches must then not be trusted. */
  isHearing(): boolean;
  close(): Promise<void>;
}

export interface ChangeListenerOptions {
  readonly target: ConnectionTarget;
  readonly onChange: (change: Change) => void;
  /** Called when notices may have been missed: everything remembered is void. */
  readonly onGap: () => void;
}

const CHANNEL = 'strongroom_changes';
const PING_INTERVAL_MS = 400;
const PING_TIMEOUT_MS = 400;
const RECONNECT_DELAY_MS = 250;

const NOTIFY = statement<{ sent: string }>('notify_change', `SELECT pg_notify('${CHANNEL}', $1)::text AS sent`);

/** Tells every process about a change when, and only if, this transaction commits. */
export async function announce(tx: Tx, change: Change): Promise<void> {
  await tx.run(NOTIFY, [`${change.kind}:${change.tenantId}`]);
}

/**
 * Listens on a connection of its own. A connection that went silent without closing is found by asking it something
 * every few hundred milliseconds, so a change made elsewhere holds here within a second or nothing is remembered.
 */
export function listenForChanges(options: ChangeListenerOptions): ChangeListener {
  let client: pg.Client | undefined;
  let isHearing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  function lose(broken: pg.Client): void {
    if (client !== broken) return;
    client = undefined;
    isHearing = false;
    options.onGap();
    void broken.end().catch(() => {});
    if (!isClosed) schedule(() => void connect(), RECONNECT_DELAY_MS);
  }

  function schedule(act: () => void, delayMs: number): void {
    clearTimeout(timer);
    timer = setTimeout(act, delayMs);
    timer.unref();
  }

  async function keepAsking(asked: pg.Client): Promise<void> {
    try {
      await asked.query('SELECT 1');
      if (client === asked && !isClosed) schedule(() => void keepAsking(asked), PING_INTERVAL_MS);
    } catch {
      lose(asked);
    }
  }

  async function connect(): Promise<void> {
    const bounds = { acquireMs: 1_000, statementMs: PING_TIMEOUT_MS, lockMs: PING_TIMEOUT_MS };
    const fresh = new pg.Client({ ...clientConfig(options.target, bounds), query_timeout: PING_TIMEOUT_MS });
    client = fresh;
    fresh.on('error', () => lose(fresh));
    fresh.on('end', () => lose(fresh));
    fresh.on('notification', (message) => {
      const [kind, tenantId] = (message.payload ?? '').split(':');
      if ((kind === 'tenant' || kind === 'access') && tenantId) options.onChange({ kind, tenantId });
      else options.onGap();
    });
    try {
      await fresh.connect();
      await fresh.query(`LISTEN ${CHANNEL}`);
      options.onGap();
      isHearing = true;
      await keepAsking(fresh);
    } catch {
      lose(fresh);
    }
  }

  void connect();
  return {
    isHearing: () => isHearing,
    async close() {
      isClosed = true;
      clearTimeout(timer);
      const last = client;
      client = undefined;
      isHearing = false;
      await last?.end().catch(() => {});
    },
  };
}
