import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { answerAsks } from '../limits/counting-desk.js';
import type { MemoryCounter } from '../limits/memory-counter.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { createLedger } from './figures.js';
import { closeWhatIsHandedOver } from './handed-over.js';
import type { Failure, Order, ToKeeper, ToWorker } from './messages.js';
import { passLines } from './pass-lines.js';
import { createPauses, FAILED_STARTS_MAX } from './pauses.js';

export interface KeeperOptions {
  readonly count: number;
  /** 0 lets the system choose, once for all. */
  readonly port: number;
  readonly server: Order['server'];
  /** Counts for all workers; undefined where they need nobody to. */
  readonly counter: MemoryCounter | undefined;
  readonly clock: Clock;
  readonly log: ProcessLog;
  /** No worker is left and none can be started. */
  readonly onLost: (failure: Failure) => void;
}

export interface Keeper {
  /** Resolves with the port once every worker listens. */
  readonly listening: Promise<number>;
  /** Tells all workers, and those to come, that they may say they are ready. */
  open(): void;
  readonly serving: () => number;
  /** The metrics of all workers and, as `own`, of the keeper. Takes a bounded time, whatever a worker does. */
  scrape(own: () => string): Promise<string>;
  /** Ends all workers; false when one had to be killed. */
  stop(): Promise<boolean>;
}

interface Seat {
  readonly slot: number;
  readonly pauses: ReturnType<typeof createPauses>;
  worker: Worker | undefined;
  startedMs: number;
  isListening: boolean;
  timer: NodeJS.Timeout | undefined;
  lines: Promise<void>;
}

/** Less than the process gives itself to end, so that the database can still be closed. */
const STOP_MAX_MS = 20_000;
const SCRAPE_MAX_MS = 500;
const LAST_LINES_MS = 500;

export function keepWorkers(options: KeeperOptions): Keeper {
  const { clock, log } = options;
  const ledger = createLedger();
  const seats = Array.from({ length: options.count }, (_, index): Seat => {
    return {
      slot: index + 1,
      pauses: createPauses(),
      worker: undefined,
      startedMs: 0,
      isListening: false,
      timer: undefined,
      lines: Promise.resolve(),
    };
  });
  let askedPort = options.port;
  let port: number | undefined;
  let failedStarts = 0;
  let lastReason: string | undefined;
  let isOpen = false;
  let isStopping = false;
  let scrapes = 0;
  let scraping: Promise<void> | undefined;
  let heard = (): void => {};
  let onEmpty = (): void => {};
  let settle: (port: number) => void = () => {};
  const listening = new Promise<number>((resolve) => {
    settle = resolve;
  });

  const living = () => seats.flatMap(({ worker }) => worker ?? []);
  const serving = () => seats.filter(({ isListening }) => isListening).length;

  function fill(seat: Seat): void {
    // While others hold the port, asking for the same number again shares it; once it is free it has to be named.
    if (living().length === 0 && port !== undefined) askedPort = port;
    const worker = cluster.fork();
    Object.assign(seat, { worker, startedMs: clock.monotonicMs(), isListening: false });
    closeWhatIsHandedOver(worker);
    seat.lines = passLines(worker.process.stdout, log.pass);
    worker.on('message', (message: ToKeeper) => hear(seat, worker, message));
    worker.on('error', () => {});
    worker.once('exit', (code, signal) => ended(seat, signal ?? `code ${code}`));
  }

  function hear(seat: Seat, worker: Worker, message: ToKeeper): void {
    if (message.kind === 'here') {
      const { slot } = seat;
      tell(worker, { kind: 'start', order: { slot, of: options.count, port: askedPort, server: options.server } });
    } else if (message.kind === 'count') {
      const answers = options.counter ? answerAsks(options.counter, message.asks) : [];
      tell(worker, { kind: 'counted', id: message.id, answers });
    } else if (message.kind === 'figures') {
      ledger.note(seat.slot, message.text);
      if (message.id === scrapes) heard();
    } else if (message.kind === 'listening') {
      listens(seat, worker, message.port);
    } else if (port === undefined) {
      // As with a single process: a start that fails for a reason ends, and says why.
      options.onLost(message.failure);
    } else {
      lastReason = message.failure.message;
      log.main.warn({ worker: seat.slot, reason: lastReason }, 'a worker could not start');
    }
  }

  function listens(seat: Seat, worker: Worker, on: number): void {
    port ??= on;
    if (on !== port) {
      // The last who held the chosen port died meanwhile, and the system chose another.
      askedPort = port;
      worker.process.kill('SIGKILL');
      return;
    }
    failedStarts = 0;
    lastReason = undefined;
    seat.isListening = true;
    log.main.info({ worker: seat.slot, pid: worker.process.pid }, 'a worker listens');
    if (isOpen) tell(worker, { kind: 'open' });
    if (serving() === options.count) settle(port);
  }

  function ended(seat: Seat, how: string): void {
    const livedMs = clock.monotonicMs() - seat.startedMs;
    if (!seat.isListening) failedStarts += 1;
    Object.assign(seat, { worker: undefined, isListening: false });
    ledger.retire(seat.slot);
    heard();
    if (living().length === 0) onEmpty();
    if (isStopping) return;
    if (failedStarts >= FAILED_STARTS_MAX && serving() === 0) {
      const story = lastReason ?? 'What they said, if anything, stands above in the log.';
      const message = `${failedStarts} workers in a row ended before they listened, the last with ${how}. ${story}`;
      options.onLost({ exitCode: EXIT.unavailable, message });
      return;
    }
    const pauseMs = seat.pauses.after(livedMs);
    log.main.warn({ worker: seat.slot, how, pauseMs }, 'a worker ended; another takes its place');
    seat.timer = setTimeout(() => fill(seat), pauseMs);
  }

  /** Resolves when every worker has said its figures, or has had its time. */
  function askAll(): Promise<void> {
    scrapes += 1;
    const asked = seats.flatMap(({ worker, isListening }) => (worker && isListening ? worker : []));
    return new Promise((resolve) => {
      let left = asked.length;
      const timer = setTimeout(resolve, SCRAPE_MAX_MS);
      heard = () => {
        left -= 1;
        if (left > 0) return;
        clearTimeout(timer);
        resolve();
      };
      for (const worker of asked) tell(worker, { kind: 'scrape', id: scrapes });
      if (left === 0) heard();
    });
  }

  // Connections are handed out in turn: left to the kernel, one worker may get most of those that are kept open.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  // Lines of several processes in one pipe would run into each other; so the keeper writes them all.
  cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  for (const seat of seats) fill(seat);

  return {
    listening,
    serving,
    open() {
      isOpen = true;
      for (const { worker, isListening } of seats) if (worker && isListening) tell(worker, { kind: 'open' });
    },
    async scrape(own) {
      scraping ??= askAll().finally(() => {
        scraping = undefined;
      });
      await scraping;
      return ledger.render(own());
    },
    async stop() {
      isStopping = true;
      for (const { timer } of seats) clearTimeout(timer);
      // Who does not listen yet has nothing to finish.
      for (const { worker, isListening } of seats) {
        if (worker && isListening) tell(worker, { kind: 'stop' });
        else worker?.process.kill('SIGKILL');
      }
      let isClean = true;
      const timer = setTimeout(() => {
        isClean = false;
        log.main.fatal('a worker did not end in time and is killed');
        for (const worker of living()) worker.process.kill('SIGKILL');
      }, STOP_MAX_MS);
      await new Promise<void>((resolve) => {
        onEmpty = resolve;
        if (living().length === 0) resolve();
      });
      clearTimeout(timer);
      await Promise.race([
        Promise.all(seats.map(({ lines }) => lines)),
        pause(LAST_LINES_MS, undefined, { ref: false }),
      ]);
      return isClean;
    },
  };
}

/** A worker that cannot be told is about to end, which is seen by itself. */
function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
