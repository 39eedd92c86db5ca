import pg from 'pg';
import { newId } from '../kernel/ids.js';
import type { ConnectionTarget, Endpoints } from './connection.js';
import { endpointsOf } from './connection.js';
import type { Database } from './database.js';
import type { HostChoice } from './host-choice.js';
import { checkAlive, checkSession, createHostChoice } from './host-choice.js';
import type { Tx } from './scope.js';
import { statement } from './statement.js';

/** What one process tells the others so that they drop what they remember. */
export interface ChangeNotice {
  readonly kind: (typeof CHANGE_KINDS)[number];
  readonly tenantId: string;
}

/** A process of a release that does not know a kind yet takes it for a gap, and forgets everything. */
const CHANGE_KINDS = ['tenant', 'access', 'proxy', 'reactor'] as const;

export interface ChangeListener {
  /** False while notices may be missed: caches must then not be trusted. */
  isHearing(): boolean;
  close(): Promise<void>;
}

export interface ChangeListenerOptions {
  readonly target: ConnectionTarget;
  readonly onChange: (change: ChangeNotice) => void;
  /** Called when notices may have been missed: everything remembered is void. */
  readonly onGap: () => void;
  /** Sends a notice over a connection that is not the listening one. */
  readonly sendEcho: (echo: string) => Promise<void>;
  readonly onHeard?: () => void;
  /**
   * Called once when notices that were sent do not arrive, or when there is no connection to listen on; again only
   * after they arrived in between.
   */
  readonly onDeaf?: () => void;
  /** How often the arrival of notices is checked. */
  readonly echoIntervalMs?: number;
}

const CHANNEL = 'strongroom_changes';
const ECHO = 'echo';
const BOUNDS = { acquireMs: 1_000, statementMs: 400, lockMs: 400 };
const PING_INTERVAL_MS = 400;
const RECONNECT_DELAY_MS = 250;
/** Where no notice arrives, only a new connection can help, and it seldom does. */
const DEAF_DELAY_MS = 1_000;
const ECHO_INTERVAL_MS = 10_000;
const ECHO_WAIT_MS = 2_000;
/**
 * A server that just came back may be reachable for others first; after this many failures in a row the address is
 * wrong.
 */
const REFUSALS_MAX = 4;

const NOTIFY = statement<{ sent: string }>('notify_change', `SELECT pg_notify('${CHANNEL}', $1)::text AS sent`);

/** Tells every process about a change when, and only if, this transaction commits. */
export async function announce(tx: Tx, change: ChangeNotice): Promise<void> {
  await tx.run(NOTIFY, [`${change.kind}:${change.tenantId}`]);
}

/** A notice that a listener sends to itself over the pool. */
export async function sendEcho(database: Pick<Database, 'system'>, echo: string): Promise<void> {
  await database.system((tx) => tx.run(NOTIFY, [`${ECHO}:${echo}`]));
}

/** One connection from its making to its end. */
interface ListenerConnection {
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
 * every few hundred milliseconds, so a change made by another process is effective here within a second, or nothing is
 * cached.
 *
 * Behind a proxy that pools transactions LISTEN succeeds and nothing ever comes. So nothing is trusted before a notice
 * sent over another connection has arrived, and one is sent again now and then. It counts only if it arrives while no
 * query runs on this connection: such a proxy passes on notices that happen to come together with an answer, and no
 * others.
 */
export function listenForChanges(options: ChangeListenerOptions): ChangeListener {
  return new Listener(options);
}

class Listener implements ChangeListener {
  readonly #options: ChangeListenerOptions;
  readonly #endpoints: Endpoints;
  readonly #choice: HostChoice;
  #connection: ListenerConnection | undefined;
  #isHearing = false;
  #isClosed = false;
  #wasDeafTold = false;
  #refusals = 0;
  #reconnect: NodeJS.Timeout | undefined;

  constructor(options: ChangeListenerOptions) {
    this.#options = options;
    this.#endpoints = endpointsOf(options.target);
    this.#choice = createHostChoice(this.#endpoints, BOUNDS);
    void this.#connect();
  }

  readonly isHearing = (): boolean => this.#isHearing;

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isHearing = false;
    clearTimeout(this.#reconnect);
    await this.#hangUp();
  }

  #lose(broken: ListenerConnection, delayMs = RECONNECT_DELAY_MS): void {
    if (this.#connection !== broken) return;
    this.#isHearing = false;
    this.#options.onGap();
    void this.#hangUp();
    this.#choice.doubt(this.#choice.current());
    this.#connectIn(delayMs);
  }

  async #hangUp(): Promise<void> {
    const last = this.#connection;
    this.#connection = undefined;
    for (const timer of last?.timers ?? []) clearTimeout(timer);
    await last?.client.end().catch(() => {});
  }

  #connectIn(delayMs: number): void {
    if (this.#isClosed) return;
    this.#reconnect = setTimeout(() => void this.#connect(), delayMs);
    this.#reconnect.unref();
  }

  #after(delayMs: number, of: ListenerConnection, act: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      of.timers.delete(timer);
      if (this.#connection === of) act();
    }, delayMs);
    timer.unref();
    of.timers.add(timer);
    return timer;
  }

  async #keepAsking(asked: ListenerConnection): Promise<void> {
    asked.isAsking = true;
    try {
      await checkAlive(asked.client, this.#endpoints.sessionAttrs);
      asked.isAsking = false;
      this.#after(PING_INTERVAL_MS, asked, () => void this.#keepAsking(asked));
    } catch {
      this.#lose(asked);
    }
  }

  async #keepProving(of: ListenerConnection): Promise<void> {
    const echo = newId();
    const arrived = new Promise<void>((resolve) => {
      of.onEcho = resolve;
    });
    of.echo = echo;
    try {
      await this.#options.sendEcho(echo);
    } catch {
      // Sending failed, which says nothing about the listener connection.
      this.#after(DEAF_DELAY_MS, of, () => void this.#keepProving(of));
      return;
    }
    const deadline = this.#after(ECHO_WAIT_MS, of, () => {
      this.#tellDeaf();
      this.#lose(of, DEAF_DELAY_MS);
    });
    await arrived;
    clearTimeout(deadline);
    if (this.#connection !== of) return;
    if (!this.#isHearing) this.#options.onGap();
    this.#isHearing = true;
    this.#wasDeafTold = false;
    this.#refusals = 0;
    this.#options.onHeard?.();
    this.#after(this.#options.echoIntervalMs ?? ECHO_INTERVAL_MS, of, () => void this.#keepProving(of));
  }

  #receive(by: ListenerConnection, payload: string): void {
    const [kind, word] = payload.split(':');
    if (kind === ECHO && word) {
      if (word !== by.echo) return;
      if (by.isAsking) void this.#options.sendEcho(word).catch(() => {});
      else by.onEcho();
      return;
    }
    const known = CHANGE_KINDS.find((each) => each === kind);
    if (known && word) this.#options.onChange({ kind: known, tenantId: word });
    else this.#options.onGap();
  }

  #tellDeaf(): void {
    if (!this.#wasDeafTold) this.#options.onDeaf?.();
    this.#wasDeafTold = true;
  }

  /** Where notices can be sent and only listening fails, the listener's own host or login is wrong. */
  async #noteRefusal(): Promise<void> {
    if (this.#wasDeafTold) return;
    try {
      await this.#options.sendEcho(newId());
      this.#refusals += 1;
    } catch {
      this.#refusals = 0;
    }
    if (this.#refusals >= REFUSALS_MAX && !this.#isClosed) this.#tellDeaf();
  }

  async #connect(): Promise<void> {
    try {
      await this.#choice.settle();
    } catch {
      void this.#noteRefusal();
      this.#connectIn(RECONNECT_DELAY_MS);
      return;
    }
    if (this.#isClosed) return;
    const config = { ...this.#endpoints.configFor(this.#choice.current(), BOUNDS), query_timeout: BOUNDS.statementMs };
    const fresh: ListenerConnection = {
      client: new pg.Client(config),
      isAsking: true,
      echo: undefined,
      onEcho: () => {},
      timers: new Set(),
    };
    this.#connection = fresh;
    fresh.client.on('error', () => this.#lose(fresh));
    fresh.client.on('end', () => this.#lose(fresh));
    fresh.client.on('notification', (message) => this.#receive(fresh, message.payload ?? ''));
    try {
      await fresh.client.connect();
      await checkSession(fresh.client, this.#endpoints.sessionAttrs);
      await fresh.client.query(`LISTEN ${CHANNEL}`);
      if (this.#connection !== fresh) return;
      fresh.isAsking = false;
      this.#options.onGap();
      this.#after(PING_INTERVAL_MS, fresh, () => void this.#keepAsking(fresh));
    } catch {
      this.#lose(fresh);
      void this.#noteRefusal();
      return;
    }
    await this.#keepProving(fresh);
  }
}
