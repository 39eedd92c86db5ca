import { randomBytes } from 'node:crypto';
import type { Config } from './config.js';
import type { SystemKeys } from './crypto/system-keys.js';
import type { Clock } from './kernel/clock.js';
import { SEED_BYTES } from './limits/address-hash.js';
import type { AskToCount } from './limits/asking-counter.js';
import { AskingCounter } from './limits/asking-counter.js';
import { createClientHash } from './limits/client-hash.js';
import type { MemoryCounter } from './limits/memory-counter.js';
import { createMemoryCounter } from './limits/memory-counter.js';
import type { RateCounter } from './limits/rate-counter.js';
import { connectRedis, redisReasonOf } from './limits/redis-connection.js';
import { RedisCounter } from './limits/redis-counter.js';
import { createRedisStore } from './limits/redis-store.js';
import type { Metrics } from './telemetry/metrics.js';
import type { ProcessLog } from './telemetry/process-log.js';

export interface RateCounting {
  /** Undefined lifts every limit, for measuring. */
  readonly counter: RateCounter | undefined;
  close(): void;
}

export interface RateCountingOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: ProcessLog;
  readonly metrics: Metrics;
  readonly systemKeys: SystemKeys;
  /** How one of several processes on a port has requests counted by the one that keeps them. */
  readonly askKeeper: AskToCount | undefined;
}

/** Later than this Redis is slow, and requests are decided without it. */
const CALL_MAX_MS = 50;
const CONNECT_MAX_MS = 1_000;
/** Needed only while nobody else counts, so less than a process that is alone remembers. */
const FALLBACK_SLOTS = 16_384;

/** Where requests are counted: nowhere, on this node, or in Redis with every other node. */
export function createRateCounting(options: RateCountingOptions): RateCounting {
  const { config, clock } = options;
  if (config.rateLimits === 'off') return { counter: undefined, close: () => {} };
  const ofNode = createNodeCounter(options);
  const { redisUrl } = config;
  if (redisUrl === undefined) return { counter: ofNode, close: () => {} };

  const { main } = options.log;
  const counter = new RedisCounter({
    clock,
    hash: createClientHash(options.systemKeys.rowMac),
    fallback: ofNode,
    openStore: async (onLost) => {
      const url = redisUrl.reveal();
      return createRedisStore(
        await connectRedis({ url, callMaxMs: CALL_MAX_MS, connectMaxMs: CONNECT_MAX_MS, onLost }),
      );
    },
    onChange: (isUp, error) => {
      if (isUp) main.info({ event: 'rate_store_up' }, 'rate counters are shared over Redis');
      else
        main.warn(
          { event: 'rate_store_lost', reason: redisReasonOf(error) },
          'Redis is lost: each node counts for itself',
        );
    },
  });
  addStoreMetrics(options.metrics, counter);
  return { counter, close: () => counter.close() };
}

function addStoreMetrics(metrics: Metrics, counter: RedisCounter): void {
  metrics.addGauge({
    name: 'strongroom_rate_store_up',
    help: '1 while rate counters are shared over Redis.',
    type: 'gauge',
    read: () => (counter.isUp() ? 1 : 0),
  });
  metrics.addGauge({
    name: 'strongroom_rate_store_fallbacks_total',
    help: 'Requests counted in this process alone because Redis was slow or gone.',
    type: 'counter',
    read: () => counter.fallbacks(),
  });
}

/** One counter for all processes of a node: the keeper's where there is one, else our own. */
function createNodeCounter({ clock, log, askKeeper }: RateCountingOptions): RateCounter {
  if (askKeeper === undefined) return createOwnCounter(clock);
  return new AskingCounter({
    clock,
    ask: askKeeper,
    fallback: () => createOwnCounter(clock, FALLBACK_SLOTS),
    onSilence: (isSilent) => {
      if (isSilent) log.main.warn('the keeper does not answer: this process counts requests by itself');
      else log.main.info('the keeper answers again and counts requests');
    },
  });
}

export function createOwnCounter(clock: Clock, slots?: number): MemoryCounter {
  return createMemoryCounter({ clock, seed: randomBytes(SEED_BYTES), ...(slots !== undefined && { slots }) });
}
