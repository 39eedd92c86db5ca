import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import type { Clock } from '../kernel/clock.js';
import type { ProcessLog } from '../telemetry/process-log.js';
import { closeWhatIsHandedOver } from './handed-over.js';
import type { ToKeeper, ToWorker } from './messages.js';
import { passLines } from './pass-lines.js';
import { createPauses } from './pauses.js';

export interface SeatOptions {
  readonly slot: number;
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly onMessage: (seat: Seat, worker: Worker, message: ToKeeper) => void;
  /** The seat is empty when this is called. */
  readonly onEnd: (seat: Seat, end: WorkerEnd) => void;
}

export interface WorkerEnd {
  /** The exit code or the signal. */
  readonly how: string;
  readonly livedMs: number;
  /** Tells a worker that served from one that never started. */
  readonly wasListening: boolean;
}

/** One of the places for workers: holds the process that has it now, and starts the next. */
export class Seat {
  readonly slot: number;
  readonly #options: SeatOptions;
  readonly #pauses = createPauses();
  #worker: Worker | undefined;
  #startedMs = 0;
  #isListening = false;
  #timer: NodeJS.Timeout | undefined;
  #lines: Promise<void> = Promise.resolve();

  constructor(options: SeatOptions) {
    this.slot = options.slot;
    this.#options = options;
  }

  worker(): Worker | undefined {
    return this.#worker;
  }

  /** The worker, once it listens. */
  servingWorker(): Worker | undefined {
    return this.#isListening ? this.#worker : undefined;
  }

  markListening(): void {
    this.#isListening = true;
  }

  fill(): void {
    const worker = cluster.fork();
    this.#worker = worker;
    this.#startedMs = this.#options.clock.monotonicMs();
    this.#isListening = false;
    closeWhatIsHandedOver(worker);
    this.#lines = passLines(worker.process.stdout, this.#options.log.pass);
    worker.on('message', (message: ToKeeper) => this.#options.onMessage(this, worker, message));
    worker.on('error', () => {});
    worker.once('exit', (code, signal) => this.#end(signal ?? `code ${code}`));
  }

  /** Has `fill` called after a pause that grows with how often workers of this seat ended soon; says how long it is. */
  fillLater(livedMs: number, fill: () => void): number {
    const pauseMs = this.#pauses.after(livedMs);
    this.#timer = setTimeout(fill, pauseMs);
    return pauseMs;
  }

  /** Ends the worker, and has no other take its place. */
  stop(): void {
    clearTimeout(this.#timer);
    // A worker that does not listen yet has nothing to finish.
    if (this.#worker && this.#isListening) tell(this.#worker, { kind: 'stop' });
    else this.kill();
  }

  kill(): void {
    this.#worker?.process.kill('SIGKILL');
  }

  /** Resolves when the last line the worker wrote is in the log. */
  lastLine(): Promise<void> {
    return this.#lines;
  }

  #end(how: string): void {
    const livedMs = this.#options.clock.monotonicMs() - this.#startedMs;
    const wasListening = this.#isListening;
    this.#worker = undefined;
    this.#isListening = false;
    this.#options.onEnd(this, { how, livedMs, wasListening });
  }
}

/** A worker that cannot be told is about to end, which is seen by itself. */
export function tell(worker: Worker, message: ToWorker): void {
  if (worker.isConnected()) worker.send(message, () => {});
}
