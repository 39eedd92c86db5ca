import type { Sender } from './tally.js';
import { createTally } from './tally.js';

/** Requests whose body is still on its way. */
export interface BodyWaits {
  /** Waits for a body, and then for a place; refuses when a client, a tenant or everybody together waits for too many. */
  during<T>(sender: Sender, read: () => Promise<T>): Promise<T>;
  /** Counts bytes that have arrived and are held; refuses when a client, a tenant or everybody has sent too many. */
  hold(sender: Sender, bytes: number): void;
  release(sender: Sender, bytes: number): void;
  readonly waiting: () => number;
}

export interface BodyWaitsOptions {
  readonly waitingMax: number;
  readonly onWait: (sender: Sender) => void;
  /** Told of a body that is there; what it returns is waited for. */
  readonly onArrived: (sender: Sender) => Promise<void> | undefined;
}

/** One address that holds back many bodies must not use up the places of all others. */
const PER_CLIENT_MAX = 200;
/** Bytes of bodies that are on their way or wait for their turn. */
const BYTES_MAX = 33_554_432;
const BYTES_PER_CLIENT_MAX = BYTES_MAX / 2;

export function createBodyWaits({ waitingMax, onWait, onArrived }: BodyWaitsOptions): BodyWaits {
  const places = createTally(waitingMax, PER_CLIENT_MAX);
  const bytesHeld = createTally(BYTES_MAX, BYTES_PER_CLIENT_MAX);

  return {
    waiting: places.total,
    hold: bytesHeld.add,
    release: bytesHeld.remove,
    async during(sender, read) {
      places.add(sender, 1);
      onWait(sender);
      try {
        const body = await read();
        const placed = onArrived(sender);
        if (placed) await placed;
        return body;
      } finally {
        places.remove(sender, 1);
      }
    },
  };
}
