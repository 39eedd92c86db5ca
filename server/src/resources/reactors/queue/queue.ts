import type { Clock } from '../../../kernel/clock.js';
import { AppError } from '../../../kernel/errors.js';
import type { Outbound } from '../../../outbound/outbound.js';
import type { Gauge } from '../../../telemetry/metrics.js';
import type { StoreOptions } from '../definition/store.js';
import { createReactorStore } from '../definition/store.js';
import type { InvokeOptions } from '../run/invoke.js';
import { createInvoke } from '../run/invoke.js';
import { listTenantsWithDueRequests, readDatabaseTime } from './claim-queries.js';
import { deliverResult } from './deliver.js';
import { Lane, TENANTS_PER_LOOK } from './lane.js';
import { createRequestOpener } from './open-request.js';
import { createQueueFigures } from './queue-figures.js';
import type { QueueTime } from './queue-time.js';
import { createQueueTime } from './queue-time.js';
import { runRequest } from './run-request.js';

/** What calls of the API tell the queue of their process. */
export interface QueueSignals {
  /** The time that due requests are judged by. */
  nowMs(): number;
  /** Something is due. */
  wake(): void;
  /** A request is cancelled: what runs of it here ends at once. */
  end(requestId: string): void;
}

export interface ReactorQueue extends QueueSignals {
  /** Takes no more, and gives back what is under way: another process has it at once. */
  close(): Promise<void>;
  readonly gauges: readonly Gauge[];
}

export interface ReactorQueueOptions extends StoreOptions, InvokeOptions {
  readonly clock: Clock;
  readonly outbound: Pick<Outbound, 'send'>;
  /** Processes for code of tenants, of which synchronous calls keep half. */
  readonly instancesMax: number;
  readonly instancesPerTenantMax: number;
  /** What time it is by that of the database. */
  readonly timeOf?: ((databaseMs: number) => number) | undefined;
  readonly onFault: (error: unknown) => void;
}

/** How long to rest when nothing is due here: as long as what another process put in may wait. */
const REST_MS = 1_000;
const DELIVERIES_MAX = 32;
const DELIVERIES_OF_TENANT_MAX = 8;

/** Runs queued calls of Reactors and delivers their results, until it is closed. */
export function startReactorQueue(options: ReactorQueueOptions): ReactorQueue {
  const time = createQueueTime(options.clock, options.timeOf ?? ((databaseMs) => databaseMs));
  const loop = new QueueLoop(options, time);
  const running = loop.run();
  return {
    nowMs: time.nowMs,
    wake: () => loop.wake(),
    end: (requestId) => {
      for (const lane of loop.lanes) lane.end(requestId);
    },
    async close() {
      loop.close();
      await Promise.all([running, ...loop.lanes.map((lane) => lane.close())]);
    },
    gauges: loop.gauges,
  };
}

class QueueLoop {
  readonly lanes: readonly Lane[];
  readonly gauges: readonly Gauge[];
  readonly #options: ReactorQueueOptions;
  readonly #time: QueueTime;
  #isClosed = false;
  #isWoken = false;
  /** Told once, and again after it went well. */
  #isFaulty = false;
  #endRest = (): void => {};

  constructor(options: ReactorQueueOptions, time: QueueTime) {
    this.#options = options;
    this.#time = time;
    const byStep = (of: (lane: Lane) => number) => () => new Map(this.lanes.map((lane) => [lane.step, of(lane)]));
    const figures = createQueueFigures({ claimed: byStep(({ claimed }) => claimed), held: byStep(({ held }) => held) });
    this.gauges = figures.gauges;
    const store = createReactorStore(options);
    const open = createRequestOpener(options, store);
    const common = {
      ...{ database: options.database, time, count: figures, open, onFault: options.onFault },
      onFree: () => this.wake(),
    };
    const runs = { ...options, ...common, invoke: createInvoke(options, store), onConcluded: common.onFree };
    const deliveries = { ...options, ...common, store };
    this.lanes = [
      new Lane({
        ...common,
        step: 'queued',
        placesMax: halfOf(options.instancesMax),
        ofTenantMax: halfOf(options.instancesPerTenantMax),
        isOpen: () => runsCode(options.runCode),
        work: (held) => runRequest(runs, held),
      }),
      new Lane({
        ...common,
        step: 'delivering',
        placesMax: DELIVERIES_MAX,
        ofTenantMax: DELIVERIES_OF_TENANT_MAX,
        isOpen: () => true,
        work: (held) => deliverResult(deliveries, held),
      }),
    ];
  }

  async run(): Promise<void> {
    while (!this.#isClosed) {
      this.#isWoken = false;
      const isMore = await this.#look().catch((error: unknown) => this.#fault(error));
      if (!isMore && !this.#isClosed && !this.#isWoken) await this.#rest();
    }
  }

  wake(): void {
    this.#isWoken = true;
    this.#endRest();
  }

  close(): void {
    this.#isClosed = true;
    this.#endRest();
  }

  async #look(): Promise<boolean> {
    const ready = this.lanes.filter((lane) => lane.isReady());
    if (ready.length === 0) return false;
    const nowMs = this.#time.nowMs();
    const [databaseMs, tenants] = await this.#options.database.survey((tx) =>
      Promise.all([
        readDatabaseTime(tx),
        Promise.all(
          ready.map(({ step, after }) => listTenantsWithDueRequests(tx, step, nowMs, after, TENANTS_PER_LOOK)),
        ),
      ]),
    );
    this.#time.learn(databaseMs);
    if (this.#isClosed) return false;
    const taken = await Promise.all(ready.map((lane, at) => lane.take(tenants[at] ?? [])));
    this.#isFaulty = false;
    return taken.some((isMore) => isMore);
  }

  #fault(error: unknown): boolean {
    if (!this.#isFaulty) this.#options.onFault(error);
    this.#isFaulty = true;
    return false;
  }

  #rest(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, REST_MS);
      timer.unref();
      this.#endRest = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

function halfOf(count: number): number {
  return Math.max(1, Math.floor(count / 2));
}

/** Where no wall can be made, other processes may have one. */
function runsCode(runCode: InvokeOptions['runCode']): boolean {
  try {
    runCode.check();
    return true;
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}
