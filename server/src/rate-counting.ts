import { randomBytes } from 'node:crypto';
import type { Config } from './config.js';
import type { Clock } from './kernel/clock.js';
import { SEED_BYTES } from './limits/address-hash.js';
import type { AskToCount } from './limits/asking-counter.js';
import { createAskingCounter } from './limits/asking-counter.js';
import type { MemoryCounter } from './limits/memory-counter.js';
import { createMemoryCounter } from './limits/memory-counter.js';
import type { RateCounter } from './limits/rate-counter.js';
import type { ProcessLog } from './telemetry/process-log.js';

export interface RateCountingOptions {
  readonly config: Pick<Config, 'rateLimits'>;
  readonly clock: Clock;
  readonly log: Pick<ProcessLog, 'main'>;
  /** How one of several processes on a port has requests counted by the one that keeps them. */
  readonly askKeeper: AskToCount | undefined;
}

/** Needed only while nobody else counts, so less than a process that is alone remembers. */
const FALLBACK_SLOTS = 16_384;

/** Where requests are counted: by the keeper of several processes, else in this one. Undefined lifts every limit. */
export function chooseRateCounter({ config, clock, log, askKeeper }: RateCountingOptions): RateCounter | undefined {
  if (config.rateLimits === 'off') return undefined;
  return askKeeper === undefined ? createOwnCounter(clock) : createWorkerCounter(clock, log, askKeeper);
}

export function createOwnCounter(clock: Clock, slots?: number): MemoryCounter {
  return createMemoryCounter({ clock, seed: randomBytes(SEED_BYTES), ...(slots !== undefined && { slots }) });
}

function createWorkerCounter(clock: Clock, log: RateCountingOptions['log'], ask: AskToCount): RateCounter {
  return createAskingCounter({
    clock,
    ask,
    fallback: () => createOwnCounter(clock, FALLBACK_SLOTS),
    onSilence: (isSilent) => {
      if (isSilent) log.main.warn('the keeper does not answer: this process counts requests by itself');
      else log.main.info('the keeper answers again and counts requests');
    },
  });
}
