import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.js';
import { EXIT } from '../kernel/exit.js';
import { answerAsks } from '../limits/counting-desk.js';
import type { MemoryCounter } from '../limits/memory-counter.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import type { Failure, Order, ToKeeper } from './messages.js';
import { FAILED_STARTS_MAX } from './pauses.js';
import { Scrapes } from './scrapes.js';
import type { SeatOptions, WorkerEnd } from './seat.js';
import { Seat, tell } from './seat.js';

export interface KeeperOptions {
  readonly count: number;
  /** 0 lets the system choose, once for all. */
  readonly port: number;
  readonly server: Order['server'];
  /** Counts for all workers; undefined where workers do not need it. */
  readonly counter: MemoryCounter | undefined;
  readonly clock: Clock;
  readonly log: ProcessLog;
  /** No worker is left and none can be started. */
  readonly onLost: (failure: Failure) => void;
}

/** Less than the process gives itself to end, so that the database can still be closed. */
const STOP_MAX_MS = 20_000;
const LAST_LINES_MS = 500;

/** Starts the workers at once, replaces those that end, and ends them together. */
export class Keeper {
  /** Resolves with the port once every worker listens. */
  readonly listening: Promise<number>;
  readonly #options: KeeperOptions;
  readonly #seats: readonly Seat[];
  readonly #scrapes = new Scrapes();
  #askedPort: number;
  #port: number | undefined;
  #failedStarts = 0;
  #lastReason: string | undefined;
  #isOpen = false;
  #isStopping = false;
  #onEmpty = (): void => {};
  #onListening: (port: number) => void = () => {};

  constructor(options: KeeperOptions) {
    const { count, clock, log } = options;
    this.#options = options;
    this.#askedPort = options.port;
    this.listening = new Promise<number>((resolve) => {
      this.#onListening = resolve;
    });
    // Connections are handed out in turn: left to the kernel, one worker may get most of those that are kept open.
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // Lines of several processes in one pipe would run into each other; so the keeper writes them all.
    cluster.setupPrimary({ stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const onMessage: SeatOptions['onMessage'] = (seat, worker, message) => this.#hear(seat, worker, message);
    const onEnd: SeatOptions['onEnd'] = (seat, end) => this.#ended(seat, end);
    this.#seats = Array.from(
      { length: count },
      (_, index) => new Seat({ slot: index + 1, clock, log, onMessage, onEnd }),
    );
    for (const seat of this.#seats) this.#fill(seat);
  }

  /** Tells all workers, and those to come, that they may say they are ready. */
  open(): void {
    this.#isOpen = true;
    for (const worker of this.#servingWorkers()) tell(worker, { kind: 'open' });
  }

  serving(): number {
    return this.#servingWorkers().length;
  }

  /** The metrics of all workers and, as `own`, of the keeper. Takes a bounded time, whatever a worker does. */
  scrape(own: () => string): Promise<string> {
    return this.#scrapes.render(() => this.#servingWorkers(), own);
  }

  /** Ends all workers; false when one had to be killed. */
  async stop(): Promise<boolean> {
    this.#isStopping = true;
    for (const seat of this.#seats) seat.stop();
    let isClean = true;
    const timer = setTimeout(() => {
      isClean = false;
      this.#options.log.main.fatal('a worker did not end in time and is killed');
      for (const seat of this.#seats) seat.kill();
    }, STOP_MAX_MS);
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#isEmpty()) resolve();
    });
    clearTimeout(timer);
    await Promise.race([
      Promise.all(this.#seats.map((seat) => seat.lastLine())),
      pause(LAST_LINES_MS, undefined, { ref: false }),
    ]);
    return isClean;
  }

  #isEmpty(): boolean {
    return this.#seats.every((seat) => seat.worker() === undefined);
  }

  #servingWorkers(): Worker[] {
    return this.#seats.flatMap((seat) => seat.servingWorker() ?? []);
  }

  #fill(seat: Seat): void {
    // While other workers have the port, listening on 0 again shares it; once it is free its number has to be given.
    if (this.#isEmpty() && this.#port !== undefined) this.#askedPort = this.#port;
    seat.fill();
  }

  #hear(seat: Seat, worker: Worker, message: ToKeeper): void {
    const { count: of, counter, server, log } = this.#options;
    if (message.kind === 'here') {
      tell(worker, { kind: 'start', order: { slot: seat.slot, of, port: this.#askedPort, server } });
    } else if (message.kind === 'count') {
      const answers = counter ? answerAsks(counter, message.asks) : [];
      tell(worker, { kind: 'counted', id: message.id, answers });
    } else if (message.kind === 'figures') {
      this.#scrapes.note(seat.slot, message.id, message.text);
    } else if (message.kind === 'listening') {
      this.#listens(seat, worker, message.port);
    } else if (this.#port === undefined) {
      // As with a single process: a start that fails for a reason ends, and says why.
      this.#options.onLost(message.failure);
    } else {
      this.#lastReason = message.failure.message;
      log.main.warn({ worker: seat.slot, reason: this.#lastReason }, 'a worker could not start');
    }
  }

  #listens(seat: Seat, worker: Worker, on: number): void {
    this.#port ??= on;
    if (on !== this.#port) {
      // The last worker on the chosen port died meanwhile, and the system chose another port.
      this.#askedPort = this.#port;
      worker.process.kill('SIGKILL');
      return;
    }
    this.#failedStarts = 0;
    this.#lastReason = undefined;
    seat.markListening();
    this.#options.log.main.info({ worker: seat.slot, pid: worker.process.pid }, 'a worker listens');
    if (this.#isOpen) tell(worker, { kind: 'open' });
    if (this.serving() === this.#options.count) this.#onListening(this.#port);
  }

  #ended(seat: Seat, { how, livedMs, wasListening }: WorkerEnd): void {
    if (!wasListening) this.#failedStarts += 1;
    this.#scrapes.retire(seat.slot);
    if (this.#isEmpty()) this.#onEmpty();
    if (this.#isStopping) return;
    if (this.#failedStarts >= FAILED_STARTS_MAX && this.serving() === 0) {
      const story = this.#lastReason ?? 'What they said, if anything, stands above in the log.';
      const message = `${this.#failedStarts} workers in a row ended before they listened, the last with ${how}. ${story}`;
      this.#options.onLost({ exitCode: EXIT.unavailable, message });
      return;
    }
    const pauseMs = seat.fillLater(livedMs, () => this.#fill(seat));
    this.#options.log.main.warn({ worker: seat.slot, how, pauseMs }, 'a worker ended; another takes its place');
  }
}
