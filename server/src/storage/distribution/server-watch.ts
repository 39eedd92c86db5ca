import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../kernel/clock.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import { DriverFault, sqlStateOf } from '../faults.js';

export interface ServerWatchOptions {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** The server that has the tenant. */
  readonly findServer: (tenantId: string) => Promise<string | undefined>;
  /** Resolves when the server that has the tenant answers; rejects when it does not. */
  readonly probe: (tenantId: string) => Promise<unknown>;
  /** A probe that takes longer means silence. */
  readonly answerMaxMs: number;
}

/** Work for a tenant while it is under way. */
export interface ServerVisit {
  /** How to give it up, once its server is known not to answer. */
  onSilence(giveUp: () => void): void;
  /** It has ended, with a failure if there is one. */
  leave(failure?: unknown): void;
}

/** Work that takes longer makes its server suspect. */
const SUSPECT_MS = 500;
const PLACE_ANSWER_MAX_MS = 1_000;
const REST_FIRST_MS = 500;
const REST_MAX_MS = 2_000;
/** Shards may be moved. */
const PLACE_MS = 5_000;
const PLACES_MAX = 10_000;

/**
 * Which servers of a cluster do not answer. A statement for a tenant on such a server holds its connection until it times out, and
 * a few tenants would hold them all: those of tenants on healthy servers too. So a server that was silent for a while, or from
 * which an error came, is asked by a connection of its own. Once it does not answer that, work that waits for it is given up,
 * and work for its tenants is refused at once.
 */
export class ServerWatch {
  readonly #options: ServerWatchOptions;
  readonly #places = new Map<string, { readonly server: string; readonly knownAtMs: number }>();
  readonly #down = new Set<string>();
  readonly #rests = new Set<NodeJS.Timeout>();
  readonly #suspected = new Set<string>();
  readonly #visits = new Set<{ readonly tenantId: string; isGivenUp: boolean; giveUp: () => void }>();
  #isClosed = false;

  constructor(options: ServerWatchOptions) {
    this.#options = options;
  }

  /** Before work for a tenant is put to the database. Rejects with 503 where its server is known not to answer. */
  async enter(tenantId: string): Promise<ServerVisit> {
    if (this.#down.size > 0) {
      const server = await this.#serverOf(tenantId);
      if (server !== undefined && this.#down.has(server)) throw silent();
    }
    const timer = setTimeout(() => void this.#suspect(tenantId), SUSPECT_MS).unref();
    const visit = { tenantId, isGivenUp: false, giveUp: (): void => {} };
    this.#visits.add(visit);
    return {
      onSilence: (giveUp) => {
        visit.giveUp = giveUp;
        if (visit.isGivenUp) giveUp();
      },
      leave: (failure) => {
        clearTimeout(timer);
        this.#visits.delete(visit);
        if (failure instanceof AppError && failure.cause instanceof DriverFault) void this.#suspect(tenantId);
      },
    };
  }

  /** Asks the server that has the tenant now. Rejects with 503 unless it answers. */
  async confirm(tenantId: string): Promise<void> {
    const server = await this.#serverOf(tenantId);
    if (server === undefined || this.#down.has(server) || this.#suspected.has(server)) throw silent();
    await this.#suspect(tenantId);
    if (this.#down.has(server)) throw silent();
  }

  downCount(): number {
    return this.#down.size;
  }

  close(): void {
    this.#isClosed = true;
    for (const timer of this.#rests) clearTimeout(timer);
    this.#rests.clear();
    this.#down.clear();
  }

  async #serverOf(tenantId: string): Promise<string | undefined> {
    const { clock, findServer } = this.#options;
    const known = this.#places.get(tenantId);
    if (known !== undefined && clock.monotonicMs() - known.knownAtMs < PLACE_MS) return known.server;
    const server = await inTime(findServer(tenantId), PLACE_ANSWER_MAX_MS).catch(() => undefined);
    if (server === undefined) return undefined;
    if (this.#places.size >= PLACES_MAX) this.#places.clear();
    this.#places.set(tenantId, { server, knownAtMs: clock.monotonicMs() });
    return server;
  }

  async #suspect(tenantId: string): Promise<void> {
    const server = await this.#serverOf(tenantId);
    if (server === undefined || this.#down.has(server) || this.#suspected.has(server)) return;
    this.#suspected.add(server);
    await this.#look(server, tenantId, REST_FIRST_MS);
    this.#suspected.delete(server);
  }

  /** Asks it now, and again later for as long as it does not answer. */
  async #look(server: string, tenantId: string, restMs: number): Promise<void> {
    const answer = this.#options.probe(tenantId);
    try {
      await inTime(answer, this.#options.answerMaxMs);
      this.#down.delete(server);
    } catch (error) {
      if (this.#isClosed || !isOfServer(error)) return void this.#down.delete(server);
      this.#down.add(server);
      // A question that is still open holds a connection there: a second one is not asked beside it.
      void answer.catch(() => {}).then(() => this.#rest(server, tenantId, restMs));
      await this.#giveUpOn(server);
    }
  }

  #rest(server: string, tenantId: string, restMs: number): void {
    if (this.#isClosed) return;
    const timer = setTimeout(() => {
      this.#rests.delete(timer);
      void this.#look(server, tenantId, Math.min(restMs * 2, REST_MAX_MS));
    }, restMs).unref();
    this.#rests.add(timer);
  }

  async #giveUpOn(server: string): Promise<void> {
    for (const visit of [...this.#visits]) {
      if ((await this.#serverOf(visit.tenantId)) !== server || !this.#visits.has(visit)) continue;
      visit.isGivenUp = true;
      visit.giveUp();
    }
  }
}

/** The server did not answer, or the coordinator cannot reach it; what the coordinator itself refuses says nothing about it. */
function isOfServer(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === undefined ? !(error instanceof AppError) : state === '57014' || state.startsWith('08');
}

/** A server that is asked through a silent way may leave the question open for longer than its own bound. */
async function inTime<T>(answer: Promise<T>, maxMs: number): Promise<T> {
  const timer = new AbortController();
  const late = wait(maxMs, undefined, { signal: timer.signal, ref: false }).then(async () => {
    // An answer that lies there already, because this process was busy, counts.
    await new Promise((resolve) => setImmediate(resolve));
    throw new Error('no answer in time');
  });
  // Nobody waits for the second of the two.
  late.catch(() => {});
  answer.catch(() => {});
  return Promise.race([answer, late]).finally(() => timer.abort());
}

function silent(): AppError {
  return storageUnavailable(new DriverFault(new Error('the server that has the tenant does not answer')));
}

/** For what is asked of every server. */
export function someServerSilent(): AppError {
  return storageUnavailable(new DriverFault(new Error('a server of the cluster does not answer')));
}
