import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { quantile } from '../statistics.js';
import { createAnswerReader, isSuccess } from './answers.js';

export interface OpenLoadOptions {
  readonly port: number;
  readonly requests: readonly string[];
  /**
   * Open from the start and used once, as a proxy would hold them; each carries one request at a time. A request that
   * finds none free is not sent, and counted as that.
   */
  readonly connections: number;
  readonly phases: readonly { readonly seconds: number; readonly perSecond: number }[];
}

/** One second of the clock. Answers count in the second they arrive in. */
export interface Second {
  offered: number;
  ok: number;
  /** 503 and 429: the server said no. */
  refused: number;
  /** Any other answer. */
  wrong: number;
  /** No connection was free. */
  unsent: number;
  /** Sent, and the connection was lost before the answer. */
  lost: number;
  okP99Ms: number;
  refusedP99Ms: number;
  /** Most a request left later than it was due, which is this process being late. */
  lagMs: number;
}

export interface OpenLoadResult {
  readonly seconds: readonly Second[];
  /** Of all answers of each phase together. */
  readonly phases: readonly { readonly okP99Ms: number; readonly refusedP99Ms: number }[];
  readonly cpuSeconds: number;
}

const TICK_MS = 2;
const REFUSALS = new Set([429, 503]);
const DRAIN_MS = 10_000;
/** A connection that rested longer may be closed by the server in the moment it is used again. */
const REST_MS_MAX = 60_000;
/** Fewer than wait to be accepted without being turned away. */
const OPENED_AT_ONCE = 100;

interface Tally extends Second {
  readonly okMs: number[];
  readonly refusedMs: number[];
}

/** Offers requests by the clock, whether or not the server keeps up. */
export function openLoad(options: OpenLoadOptions): Promise<OpenLoadResult> {
  return new OpenLoad(options).run();
}

class OpenLoad {
  readonly #options: OpenLoadOptions;
  readonly #tallies: Tally[] = [];
  readonly #idle: Connection[] = [];
  #sent = 0;
  #outstanding = 0;
  #opened = 0;
  /** Undefined until all connections are open. */
  #startedMs: number | undefined;

  constructor(options: OpenLoadOptions) {
    this.#options = options;
  }

  async run(): Promise<OpenLoadResult> {
    const { phases } = this.#options;
    const totalSeconds = phases.reduce((sum, { seconds }) => sum + seconds, 0);
    await this.#openAll();
    const usedBefore = process.cpuUsage();
    this.#startedMs = performance.now();
    await this.#offer(this.#startedMs, totalSeconds);
    const deadlineMs = performance.now() + DRAIN_MS;
    while (this.#outstanding > 0 && performance.now() < deadlineMs) await tick();
    tallyAt(this.#tallies, Math.floor(totalSeconds) - 1).lost += this.#outstanding;
    const used = process.cpuUsage(usedBefore);
    return {
      seconds: this.#tallies.map(finished),
      phases: phasesOf(this.#tallies, phases),
      cpuSeconds: (used.user + used.system) / 1e6,
    };
  }

  async #offer(startedMs: number, totalSeconds: number): Promise<void> {
    const { requests, phases } = this.#options;
    const due = dueAt(phases);
    const elapsed = (): number => (performance.now() - startedMs) / 1_000;
    let offered = 0;
    let lastMs = startedMs;
    while (elapsed() < totalSeconds) {
      const tally = this.#tallyOf(startedMs);
      const wanted = due(elapsed());
      tally.lagMs = Math.max(tally.lagMs, performance.now() - lastMs - TICK_MS);
      lastMs = performance.now();
      for (; offered < wanted; offered += 1) {
        tally.offered += 1;
        const connection = this.#free();
        if (connection === undefined) tally.unsent += 1;
        else connection.send(requests[this.#sent++ % requests.length] ?? '');
      }
      await tick();
    }
  }

  async #openAll(): Promise<void> {
    const { connections, requests } = this.#options;
    while (this.#opened < connections) {
      const wave = Array.from({ length: Math.min(OPENED_AT_ONCE, connections - this.#opened) }, () => this.#openOne());
      for (const connection of wave) connection.send(requests[0] ?? '');
      while (this.#outstanding > 0) await tick();
    }
  }

  #free(): Connection | undefined {
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.isFresh()) return connection;
      connection.close();
    }
    return this.#opened < this.#options.connections ? this.#openOne() : undefined;
  }

  #openOne(): Connection {
    this.#opened += 1;
    const connection = new Connection(this.#options.port, {
      onSend: () => {
        this.#outstanding += 1;
      },
      onAnswer: (status, ms, isLast) => {
        this.#outstanding -= 1;
        this.#count(status, ms);
        if (isLast) connection.close();
        else this.#idle.push(connection);
      },
      onClose: (wasBusy) => {
        this.#opened -= 1;
        if (wasBusy) this.#lose();
      },
    });
    return connection;
  }

  #lose(): void {
    this.#outstanding -= 1;
    if (this.#startedMs === undefined) throw new Error('a connection was lost before the load began');
    this.#tallyOf(this.#startedMs).lost += 1;
  }

  #tallyOf(startedMs: number): Tally {
    return tallyAt(this.#tallies, Math.floor((performance.now() - startedMs) / 1_000));
  }

  #count(status: number, ms: number): void {
    if (this.#startedMs === undefined) return;
    const tally = this.#tallyOf(this.#startedMs);
    if (isSuccess(status)) {
      tally.ok += 1;
      tally.okMs.push(ms);
    } else if (REFUSALS.has(status)) {
      tally.refused += 1;
      tally.refusedMs.push(ms);
    } else tally.wrong += 1;
  }
}

interface ConnectionEvents {
  readonly onSend: () => void;
  /** `isLast` when the server closes behind it. */
  readonly onAnswer: (status: number, ms: number, isLast: boolean) => void;
  readonly onClose: (wasBusy: boolean) => void;
}

/** Carries one request at a time. */
class Connection {
  readonly #socket: Socket;
  readonly #events: ConnectionEvents;
  #sentMs = 0;
  #restsSinceMs = 0;
  #isBusy = false;
  #isClosed = false;

  constructor(port: number, events: ConnectionEvents) {
    const answers = createAnswerReader();
    this.#events = events;
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.setNoDelay(true);
    // The close that follows counts it.
    this.#socket.on('error', () => {});
    this.#socket.on('data', (chunk) => {
      const status = this.#isBusy ? answers.push(chunk) : undefined;
      if (status === undefined) return;
      this.#isBusy = false;
      this.#restsSinceMs = performance.now();
      events.onAnswer(status, this.#restsSinceMs - this.#sentMs, answers.isLast());
    });
    this.#socket.on('close', () => {
      const wasBusy = this.#isBusy;
      this.#isClosed = true;
      this.#isBusy = false;
      events.onClose(wasBusy);
    });
  }

  send(request: string): void {
    this.#isBusy = true;
    this.#events.onSend();
    this.#sentMs = performance.now();
    this.#socket.write(request);
  }

  isFresh(): boolean {
    return !this.#isClosed && performance.now() - this.#restsSinceMs < REST_MS_MAX;
  }

  close(): void {
    this.#socket.destroy();
  }
}

function tick(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, TICK_MS));
}

/** How many requests are due by a time, over the phases. */
export function dueAt(phases: OpenLoadOptions['phases']): (elapsedSeconds: number) => number {
  return (elapsedSeconds) => {
    let left = elapsedSeconds;
    let due = 0;
    for (const { seconds, perSecond } of phases) {
      due += Math.min(left, seconds) * perSecond;
      left = Math.max(0, left - seconds);
    }
    return Math.floor(due);
  };
}

function tallyAt(tallies: Tally[], second: number): Tally {
  while (tallies.length <= second) {
    const zero = { offered: 0, ok: 0, refused: 0, wrong: 0, unsent: 0, lost: 0, okP99Ms: 0, refusedP99Ms: 0, lagMs: 0 };
    tallies.push({ ...zero, okMs: [], refusedMs: [] });
  }
  const tally = tallies[second];
  if (tally === undefined) throw new Error('assertion failed: the list was filled up to here');
  return tally;
}

function finished({ okMs, refusedMs, ...second }: Tally): Second {
  return { ...second, okP99Ms: p99(okMs), refusedP99Ms: p99(refusedMs) };
}

function phasesOf(tallies: readonly Tally[], phases: OpenLoadOptions['phases']): OpenLoadResult['phases'] {
  let from = 0;
  return phases.map(({ seconds }) => {
    const own = tallies.slice(from, from + seconds);
    from += seconds;
    return { okP99Ms: p99(own.flatMap(({ okMs }) => okMs)), refusedP99Ms: p99(own.flatMap((t) => t.refusedMs)) };
  });
}

function p99(values: readonly number[]): number {
  return quantile(Float64Array.from(values).sort(), 0.99);
}
