import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../kernel/clock.js';
import { createClientHash } from '../limits/client-hash.js';
import { createMemoryCounter } from '../limits/memory-counter.js';
import type { RateCounter } from '../limits/rate-counter.js';
import type { RedisConnection } from '../limits/redis-connection.js';
import { connectRedis, redisReasonOf } from '../limits/redis-connection.js';
import type { RedisCounterOptions } from '../limits/redis-counter.js';
import { RedisCounter } from '../limits/redis-counter.js';
import { createRedisStore } from '../limits/redis-store.js';
import { eventually } from './eventually.js';

/** Time of a test instead of the server's: the last argument, in microseconds. */
const TEST_TIME = 'local now = math.floor(tonumber(ARGV[#ARGV]) * 1000)';

const SLOTS = 1_024;
/** So that a busy machine does not look like a slow Redis, where that is not the point. */
const CALL_MAX_MS = 3_000;
const CONNECT_MAX_MS = 1_000;

/** A counter of one node, with what it told its operator. */
export interface RedisNode extends RateCounter {
  readonly isUp: () => boolean;
  readonly fallbacks: () => number;
  readonly close: () => void;
  /** `up` and `lost: reason`, in order. */
  readonly told: string[];
  untilUp(): Promise<void>;
}

export interface RedisNodeOptions extends Partial<RedisCounterOptions> {
  readonly url: string;
  /** Nodes of one installation have the same. */
  readonly key?: KeyObject;
  readonly callMaxMs?: number;
  readonly connectMaxMs?: number;
}

export function newKey(): KeyObject {
  return createSecretKey(randomBytes(32));
}

export function startNode(options: RedisNodeOptions): RedisNode {
  const told: string[] = [];
  const clock = options.clock ?? systemClock;
  const counter = new RedisCounter({
    clock,
    hash: createClientHash(options.key ?? newKey()),
    fallback: createMemoryCounter({ clock, seed: randomBytes(8), slots: SLOTS }),
    openStore: async (onLost) =>
      createRedisStore(
        await connectRedis({
          url: options.url,
          callMaxMs: options.callMaxMs ?? CALL_MAX_MS,
          connectMaxMs: options.connectMaxMs ?? CONNECT_MAX_MS,
          onLost,
        }),
      ),
    onChange: (isUp, error) => void told.push(isUp ? 'up' : `lost: ${redisReasonOf(error)}`),
    ...options,
  });
  const isUp = () => counter.isUp();
  return {
    check: (limitKey, rows) => counter.check(limitKey, rows),
    isUp,
    fallbacks: () => counter.fallbacks(),
    close: () => counter.close(),
    told,
    untilUp: () => eventually('counts are shared', isUp),
  };
}

/** A counter whose store takes its time from the clock of a test, over a connection that stays open. */
export async function startNodeInTestTime(
  connection: RedisConnection,
  clock: Clock,
  blocksMax: number,
): Promise<RedisNode> {
  const store = createRedisStore({ ...connection, close: () => {} }, TEST_TIME, () => [String(clock.monotonicMs())]);
  const node = startNode({ url: 'redis://unused', clock, blocksMax, openStore: () => Promise.resolve(store) });
  await node.untilUp();
  return node;
}
