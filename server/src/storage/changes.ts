import pg from 'pg';
import { newId } from '../kernel/ids.js';
import type { ConnectionTarget } from './connection.js';
import { endpointsOf } from './connection.js';
import type { Database } from './database.js';
import { checkAlive, checkSession, createHostChoice } from './host-choice.js';
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
  /** Sends a notice over a connection that is not the listening one. */
  readonly sendEcho: (echo: string) => Promise<void>;
  readonly onHeard?: () => void;
  /** Called once, until it hears again, when what can be sent does not arrive, or there is no connection to hear it on. */
  readonly onDeaf?: () => void;
  /** How often it is proven anew that notices arrive. */
  readonly echoIntervalMs?: number;
}

const CHANNEL = 'strongroom_changes';
const ECHO = 'echo';
const BOUNDS = { acquireMs: 1_000, statementMs: 400, lockMs: 400 };
const PING_INTERVAL_MS = 400;
const RECONNECT_DELAY_MS = 250;
/** Where nothing is heard, connecting anew is the only remedy, and seldom one. */
const DEAF_DELAY_MS = 1_000;
const ECHO_INTERVAL_MS = 10_000;
const ECHO_WAIT_MS = 2_000;
/** A server that just came back may be reached by others first; after as many attempts in a row it is the address. */
const REFUSALS_MAX = 4;

const NOTIFY = statement<{ sent: string }>('notify_change', `SELECT pg_notify('${CHANNEL}', $1)::text AS sent`);

/** Tells every process about a change when, and only if, this transaction commits. */
export async function announce(tx: Tx, change: Change): Promise<void> {
  await tx.run(NOTIFY, [`${change.kind}:${change.tenantId}`]);
}

/** What a listener says to itself, by way of everybody. */
export async function sendEcho(database: Pick<Database, 'system'>, echo: string): Promise<void> {
  await database.system((tx) => tx.run(NOTIFY, [`${ECHO}:${echo}`]));
}

/** One connection from its making to its end. */
interface Ear {
  readonly client: pg.Client;
  /** Something was asked and is not answered yet. */
  isAsking: boolean;
  /** The echo that is on its way. */
  echo: string | undefined;
  onEcho: () => void;
  readonly timers: Set<NodeJS.Timeout>;
}

/**
 * Listens on a connection of its own. A connection that went silent without closing is found by asking it something
 * every few hundred milliseconds, so a change made elsewhere holds here within a second or nothing is remembered.
 *
 * Behind a proxy that pools transactions LISTEN succeeds and nothing ever comes. So nothing is trusted before a notice
 * sent over another connection has arrived, and one is sent again now and then. It counts only if it arrives while
 * nothing is being asked: such a proxy passes on by luck what comes together with an answer, and nothing else.
 */
export function listenForChanges(options: ChangeListenerOptions): ChangeListener {
  const endpoints = endpointsOf(options.target);
  const choice = createHostChoice(endpoints, BOUNDS);
  let ear: Ear | undefined;
  let isHearing = false;
  let isClosed = false;
  let wasDeafTold = false;
  let refusals = 0;
  let reconnect: NodeJS.Timeout | undefined;

  function lose(broken: Ear, delayMs = RECONNECT_DELAY_MS): void {
    if (ear !== broken) return;
    isHearing = false;
    options.onGap();
    void hangUp();
    choice.doubt(choice.current());
    connectIn(delayMs);
  }

  async function hangUp(): Promise<void> {
    const last = ear;
    ear = undefined;
    for (const timer of last?.timers ?? []) clearTimeout(timer);
    await last?.client.end().catch(() => {});
  }

  function connectIn(delayMs: number): void {
    if (isClosed) return;
    reconnect = setTimeout(() => void connect(), delayMs);
    reconnect.unref();
  }

  function after(delayMs: number, of: Ear, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      of.timers.delete(timer);
      if (ear === of) act();
    }, delayMs);
    timer.unref();
    of.timers.add(timer);
    return timer;
  }

  async function keepAsking(asked: Ear): Promise<void> {
    asked.isAsking = true;
    try {
      await checkAlive(asked.client, endpoints.sessionAttrs);
      asked.isAsking = false;
      after(PING_INTERVAL_MS, asked, () => void keepAsking(asked));
    } catch {
      lose(asked);
    }
  }

  async function keepProving(of: Ear): Promise<void> {
    const echo = newId();
    const arrived = new Promise<void>((resolve) => {
      of.onEcho = resolve;
    });
    of.echo = echo;
    try {
      await options.sendEcho(echo);
    } catch {
      // The way out is broken, which says nothing about this connection.
      after(DEAF_DELAY_MS, of, () => void keepProving(of));
      return;
    }
    const patience = after(ECHO_WAIT_MS, of, () => {
      tellDeaf();
      lose(of, DEAF_DELAY_MS);
    });
    await arrived;
    clearTimeout(patience);
    if (ear !== of) return;
    if (!isHearing) options.onGap();
    isHearing = true;
    wasDeafTold = false;
    refusals = 0;
    options.onHeard?.();
    after(options.echoIntervalMs ?? ECHO_INTERVAL_MS, of, () => void keepProving(of));
  }

  function receive(by: Ear, payload: string): void {
    const [kind, word] = payload.split(':');
    if (kind === ECHO && word) {
      if (word !== by.echo) return;
      if (by.isAsking) void options.sendEcho(word).catch(() => {});
      else by.onEcho();
    } else if ((kind === 'tenant' || kind === 'access') && word) options.onChange({ kind, tenantId: word });
    else options.onGap();
  }

  function tellDeaf(): void {
    if (!wasDeafTold) options.onDeaf?.();
    wasDeafTold = true;
  }

  /** Where notices can be sent and only listening fails, the listener's own host or login is wrong. */
  async function noteRefusal(): Promise<void> {
    if (wasDeafTold) return;
    try {
      await options.sendEcho(newId());
      refusals += 1;
    } catch {
      refusals = 0;
    }
    if (refusals >= REFUSALS_MAX && !isClosed) tellDeaf();
  }

  async function connect(): Promise<void> {
    try {
      await choice.settle();
    } catch {
      void noteRefusal();
      connectIn(RECONNECT_DELAY_MS);
      return;
    }
    if (isClosed) return;
    const config = { ...endpoints.configFor(choice.current(), BOUNDS), query_timeout: BOUNDS.statementMs };
    const fresh: Ear = {
      client: new pg.Client(config),
      isAsking: true,
      echo: undefined,
      onEcho: () => {},
      timers: new Set(),
    };
    ear = fresh;
    fresh.client.on('error', () => lose(fresh));
    fresh.client.on('end', () => lose(fresh));
    fresh.client.on('notification', (message) => receive(fresh, message.payload ?? ''));
    try {
      await fresh.client.connect();
      await checkSession(fresh.client, endpoints.sessionAttrs);
      await fresh.client.query(`LISTEN ${CHANNEL}`);
      if (ear !== fresh) return;
      fresh.isAsking = false;
      options.onGap();
      after(PING_INTERVAL_MS, fresh, () => void keepAsking(fresh));
    } catch {
      lose(fresh);
      void noteRefusal();
      return;
    }
    await keepProving(fresh);
  }

  void connect();
  return {
    isHearing: () => isHearing,
    async close() {
      isClosed = true;
      isHearing = false;
      clearTimeout(reconnect);
      await hangUp();
    },
  };
}
