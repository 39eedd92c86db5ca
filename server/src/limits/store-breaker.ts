import type { Clock } from '../kernel/clock.js';

export interface StoreBreakerOptions<S> {
  readonly clock: Clock;
  /** A store that has just proved to work. Must settle by itself, and tell of a fault noticed later. */
  readonly open: (onLost: (error: unknown) => void) => Promise<S & { close(): void }>;
  /** Comes once for each change; the first time when it is first known. */
  readonly onChange: (isUp: boolean, error: unknown) => void;
}

const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 10_000;
/** Who fails sooner than this after coming back is asked less and less often. */
const WELL_AFTER_MS = 10_000;

/**
 * Decides whether a store is asked at all. A store that fails is left alone for a second, then tried by one attempt at a time,
 * in the background, with pauses that grow to ten seconds. So a store that is slow or gone costs requests nothing, and one that
 * comes and goes changes little.
 */
export class StoreBreaker<S> {
  readonly #options: StoreBreakerOptions<S>;
  #store: (S & { close(): void }) | undefined;
  #isUp: boolean | undefined;
  #upSinceMs = 0;
  #pauseMs = RETRY_FIRST_MS;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: StoreBreakerOptions<S>) {
    this.#options = options;
    void this.#attempt();
  }

  /** The store, while it is well. */
  current(): S | undefined {
    return this.#store;
  }

  /** A store failed: it is dropped, and asked again later. */
  trip(failed: S, error: unknown): void {
    if (this.#store === undefined || failed !== this.#store) return;
    this.#store.close();
    this.#store = undefined;
    if (this.#options.clock.monotonicMs() - this.#upSinceMs >= WELL_AFTER_MS) this.#pauseMs = RETRY_FIRST_MS;
    this.#tell(false, error);
    this.#retryLater();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#store?.close();
    this.#store = undefined;
  }

  #tell(now: boolean, error?: unknown): void {
    if (this.#isUp === now) return;
    this.#isUp = now;
    this.#options.onChange(now, error);
  }

  #retryLater(): void {
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#attempt(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, RETRY_MAX_MS);
  }

  async #attempt(): Promise<void> {
    let opened: (S & { close(): void }) | undefined;
    let lost: { readonly error: unknown } | undefined;
    try {
      opened = await this.#options.open((error) => {
        lost = { error };
        if (opened !== undefined) this.trip(opened, error);
      });
      if (lost !== undefined) throw lost.error;
    } catch (error) {
      opened?.close();
      this.#tell(false, error);
      this.#retryLater();
      return;
    }
    if (this.#isClosed) {
      opened.close();
      return;
    }
    this.#store = opened;
    this.#upSinceMs = this.#options.clock.monotonicMs();
    this.#tell(true);
  }
}
