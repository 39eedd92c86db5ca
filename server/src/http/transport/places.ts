import { overloaded } from '../../kernel/errors.js';

/** A request, as far as it has a place or not. */
export interface PlaceHolder {
  hasPlace: boolean;
}

/** Places of requests that are worked on, or whose answers have not left. */
export interface Places {
  /** Counts a request that has just come, also one too many: whoever calls looks then, and refuses it. */
  take(holder: PlaceHolder): void;
  /** Gives the place back. Whoever has none changes nothing. */
  leave(holder: PlaceHolder): void;
  /**
   * Takes a place anew: at once, or when one is free, in the order of asking. Undefined when there is nothing to wait for;
   * 503 when none is free in time.
   */
  takeAgain(holder: PlaceHolder): Promise<void> | undefined;
  readonly taken: () => number;
}

export interface PlacesOptions {
  readonly max: number;
  /** Calls back after a time unless it is told not to; a test turns it by hand. */
  readonly after?: (ms: number, call: () => void) => () => void;
}

export const PLACE_WAIT_MAX_MS = 2_000;

interface Waiting {
  readonly holder: PlaceHolder;
  readonly grant: () => void;
}

export function createPlaces({ max, after = afterMs }: PlacesOptions): Places {
  const queue = new Set<Waiting>();
  let taken = 0;

  function take(holder: PlaceHolder): void {
    holder.hasPlace = true;
    taken += 1;
  }

  /** More may have entered than there are places: those too many leave first. */
  function serve(): void {
    for (const waiting of queue) {
      if (taken >= max) return;
      queue.delete(waiting);
      take(waiting.holder);
      waiting.grant();
    }
  }

  return {
    take,
    leave(holder) {
      if (!holder.hasPlace) return;
      holder.hasPlace = false;
      taken -= 1;
      if (queue.size > 0) serve();
    },
    takeAgain(holder) {
      if (taken < max) {
        take(holder);
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const cancel = after(PLACE_WAIT_MAX_MS, () => {
          queue.delete(waiting);
          reject(overloaded());
        });
        const waiting: Waiting = {
          holder,
          grant: () => {
            cancel();
            resolve();
          },
        };
        queue.add(waiting);
      });
    },
    taken: () => taken,
  };
}

function afterMs(ms: number, call: () => void): () => void {
  const timer = setTimeout(call, ms);
  return () => clearTimeout(timer);
}
