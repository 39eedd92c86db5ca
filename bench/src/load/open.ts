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
export async function openLoad(options: OpenLoadOptions): Promise<OpenLoadResult> {
  const tallies: Tally[] = [];
  const idle: Connection[] = [];
  const due = dueAt(options.phases);
  const totalSeconds = options.phases.reduce((sum, { seconds }) => sum + seconds, 0);
  let sent = 0;
  let outstanding = 0;
  let opened = 0;
  let isMeasured = false;
  await openAll();
  isMeasured = true;
  const usedBefore = process.cpuUsage();
  const startedMs = performance.now();
  const elapsed = (): number => (performance.now() - startedMs) / 1_000;
  const now = (): Tally => tallyAt(tallies, Math.floor(elapsed()));

  let offered = 0;
  let lastMs = startedMs;
  while (elapsed() < totalSeconds) {
    const tally = now();
    const wanted = due(elapsed());
    tally.lagMs = Math.max(tally.lagMs, performance.now() - lastMs - TICK_MS);
    lastMs = performance.now();
    for (; offered < wanted; offered += 1) {
      tally.offered += 1;
      const connection = free();
      if (connection === undefined) tally.unsent += 1;
      else connection.send(options.requests[sent++ % options.requests.length] ?? '');
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  const deadlineMs = performance.now() + DRAIN_MS;
  while (outstanding > 0 && performance.now() < deadlineMs)
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  tallyAt(tallies, Math.floor(totalSeconds) - 1).lost += outstanding;
  const used = process.cpuUsage(usedBefore);
  return {
    seconds: tallies.map(finished),
    phases: phasesOf(tallies, options.phases),
    cpuSeconds: (used.user + used.system) / 1e6,
  };

  async function openAll(): Promise<void> {
    while (opened < options.connections) {
      const wave = Array.from({ length: Math.min(OPENED_AT_ONCE, options.connections - opened) }, openOne);
      for (const connection of wave) connection.send(options.requests[0] ?? '');
      while (outstanding > 0) await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
  }

  function free(): Connection | undefined {
    for (let connection = idle.pop(); connection !== undefined; connection = idle.pop()) {
      if (connection.isFresh()) return connection;
      connection.close();
    }
    return opened < options.connections ? openOne() : undefined;
  }

  function openOne(): Connection {
    const socket = connect(options.port, '127.0.0.1');
    const answers = createAnswerReader();
    let sentMs = 0;
    let restsSinceMs = 0;
    let isBusy = false;
    let isClosed = false;
    opened += 1;
    const connection: Connection = {
      send(request) {
        isBusy = true;
        outstanding += 1;
        sentMs = performance.now();
        socket.write(request);
      },
      isFresh: () => !isClosed && performance.now() - restsSinceMs < REST_MS_MAX,
      close: () => socket.destroy(),
    };
    socket.setNoDelay(true);
    // The close that follows counts it.
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      const status = isBusy ? answers.push(chunk) : undefined;
      if (status === undefined) return;
      count(status, performance.now() - sentMs);
      isBusy = false;
      outstanding -= 1;
      restsSinceMs = performance.now();
      if (answers.isLast()) socket.destroy();
      else idle.push(connection);
    });
    socket.on('close', () => {
      isClosed = true;
      opened -= 1;
      if (!isBusy) return;
      isBusy = false;
      outstanding -= 1;
      if (!isMeasured) throw new Error('a connection was lost before the load began');
      now().lost += 1;
    });
    return connection;
  }

  function count(status: number, ms: number): void {
    if (!isMeasured) return;
    const tally = now();
    if (isSuccess(status)) {
      tally.ok += 1;
      tally.okMs.push(ms);
    } else if (REFUSALS.has(status)) {
      tally.refused += 1;
      tally.refusedMs.push(ms);
    } else tally.wrong += 1;
  }
}

interface Connection {
  send(request: string): void;
  isFresh(): boolean;
  close(): void;
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
