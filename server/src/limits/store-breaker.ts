import type { Clock } from '../kernel/clock.js';

/** Decides whether a store is asked at all. */
export interface StoreBreaker<S> {
  /** The store, while it is well. */
  current(): S | undefined;
  /** A store failed: it is dropped, and asked again later. */
  trip(store: S, error: unknown): void;
  close(): void;
}

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
 * A store that fails is left alone for a second, then tried by one attempt at a time, in the background, with pauses that
 * grow to ten seconds. So a store that is slow or gone costs requests nothing, and one that comes and goes changes little.
 */
export function createStoreBreaker<S>(options: StoreBreakerOptions<S>): StoreBreaker<S> {
  const { clock } = options;
  let store: (S & { close(): void }) | undefined;
  let isUp: boolean | undefined;
  let upSinceMs = 0;
  let pauseMs = RETRY_FIRST_MS;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function tell(now: boolean, error?: unknown): void {
    if (isUp === now) return;
    isUp = now;
    options.onChange(now, error);
  }

  function retryLater(): void {
    if (isClosed) return;
    timer = setTimeout(() => void attempt(), pauseMs).unref();
    pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS);
  }

  async function attempt(): Promise<void> {
    let opened: (S & { close(): void }) | undefined;
    let lost: { readonly error: unknown } | undefined;
    try {
      opened = await options.open((error) => {
        lost = { error };
        if (opened !== undefined) trip(opened, error);
      });
      if (lost !== undefined) throw lost.error;
    } catch (error) {
      opened?.close();
      tell(false, error);
      retryLater();
      return;
    }
    if (isClosed) {
      opened.close();
      return;
    }
    store = opened;
    upSinceMs = clock.monotonicMs();
    tell(true);
  }

  function trip(failed: S, error: unknown): void {
    if (store === undefined || failed !== store) return;
    store.close();
    store = undefined;
    if (clock.monotonicMs() - upSinceMs >= WELL_AFTER_MS) pauseMs = RETRY_FIRST_MS;
    tell(false, error);
    retryLater();
  }

  void attempt();
  return {
    current: () => store,
    trip,
    close() {
      isClosed = true;
      clearTimeout(timer);
      store?.close();
      store = undefined;
    },
  };
}
