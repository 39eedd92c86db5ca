import type { Clock } from '../kernel/clock.js';

/** Why a read was not answered by the replica. The words are values of a metric's label. */
export type ReplicaFault =
  | 'resting'
  | 'unreachable'
  | 'refused'
  | 'silent'
  | 'behind'
  | 'promoted'
  | 'other_server'
  | 'other_timeline'
  | 'conflict'
  | 'cancelled'
  | 'moved';

/** For the one log line of a change: from now on the replica is read, or left alone and why. */
export type ReplicaChange =
  | { readonly isServing: true }
  | { readonly isServing: false; readonly reason: ReplicaFault; readonly restMs: number };

export interface ReplicaHealth {
  isServing(): boolean;
  /** Once it has rested, looks in the background whether it is well again. No reader ever waits for that look. */
  look(): void;
  /** A read failed in a way the next one would too. */
  fail(reason: ReplicaFault): void;
  /** Waits for the look under way. */
  close(): Promise<void>;
}

const REST_MS = 1_000;
const REST_MAX_MS = 30_000;

/**
 * Whether the replica is worth asking. After a failure it is not used, each time for twice as long, so that a dead
 * replica delays only the requests under way at that moment.
 */
export function createReplicaHealth(options: {
  readonly clock: Clock;
  /** Why it cannot serve; undefined if it can. Never throws. */
  readonly probe: () => Promise<ReplicaFault | undefined>;
  readonly onChange: (change: ReplicaChange) => void;
}): ReplicaHealth {
  const { clock, probe, onChange } = options;
  let state: 'unknown' | 'serving' | 'resting' = 'unknown';
  let restMs = 0;
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  let servingSinceMs = 0;
  let looking: Promise<void> | undefined;

  function rest(reason: ReplicaFault): void {
    const nowMs = clock.monotonicMs();
    // After a long time of normal work the pause starts at its minimum again; after a short one it keeps doubling.
    const wasSteady = state === 'serving' && nowMs - servingSinceMs >= REST_MAX_MS;
    restMs = wasSteady || restMs === 0 ? REST_MS : Math.min(restMs * 2, REST_MAX_MS);
    restsUntilMs = nowMs + restMs;
    if (state === 'resting') return;
    state = 'resting';
    onChange({ isServing: false, reason, restMs });
  }

  async function lookOnce(): Promise<void> {
    const fault = await probe();
    if (fault !== undefined) return rest(fault);
    state = 'serving';
    servingSinceMs = clock.monotonicMs();
    onChange({ isServing: true });
  }

  return {
    isServing: () => state === 'serving',
    look() {
      if (state === 'serving' || looking !== undefined || clock.monotonicMs() < restsUntilMs) return;
      looking = lookOnce().finally(() => {
        looking = undefined;
      });
    },
    fail(reason) {
      // Other reads that were under way fail for the same reason and count once.
      if (state === 'serving') rest(reason);
    },
    close: async () => looking,
  };
}
