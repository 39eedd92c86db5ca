import type { Sender } from './tally.js';
import { createTally } from './tally.js';

/** Streams that are under way. One that waits for its client is no work, so it has no place among the requests. */
export interface StreamSlots {
  /** Throws 503 when a client, a tenant or everybody together has too many. */
  take(sender: Sender): void;
  leave(sender: Sender): void;
  readonly taken: () => number;
}

export interface StreamSlotsOptions {
  readonly max: number;
  /** Gives back the place the request has had so far. */
  readonly onTake: (sender: Sender) => void;
}

/** One address with many streams must not use up those of all others. */
const PER_CLIENT_MAX = 200;

export function createStreamSlots({ max, onTake }: StreamSlotsOptions): StreamSlots {
  const slots = createTally(max, PER_CLIENT_MAX);
  return {
    taken: slots.total,
    take(sender) {
      slots.add(sender, 1);
      onTake(sender);
    },
    leave: (sender) => slots.remove(sender, 1),
  };
}
