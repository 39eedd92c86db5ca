import { setTimeout as wait } from 'node:timers/promises';
import type { Round, Scenario, Undo } from '../scenario.js';

/**
 * What the service itself allows: a place in the queue or a connection, then a statement and the grace for a server that
 * says nothing at all. The rest is for a machine that is busy with other things.
 */
export const ANSWER_MAX_MS = 13_000;
/** Nobody has to wait for a server that refuses. */
const REFUSED_MAX_MS = 6_000;
const HOLE_MS = { short: 3_000, long: 30_000 };
const LATENCY_MS = 500;

export const networkHole: Scenario = {
  name: 'network-hole',
  about: 'what nodes and PostgreSQL say to each other is held and nothing is closed; later it arrives, late',
  needs: [],
  shortCount: 1,
  longCount: 6,
  async inject(round) {
    const { proxy } = round.cluster;
    const held = round.random.pick(['up', 'down', 'both'] as const);
    const fromMs = performance.now();
    proxy.setWeather({ kind: 'hole' }, held === 'both' ? undefined : held);
    await wait(round.isLong ? HOLE_MS.long : HOLE_MS.short);
    return async () => {
      proxy.setWeather({ kind: 'pass' });
      checkAnswers(round, fromMs, ANSWER_MAX_MS);
    };
  },
  verify: async (round) => checkAnswers(round, 0, ANSWER_MAX_MS),
};

export const networkReset: Scenario = {
  name: 'network-reset',
  about: 'every connection between nodes and PostgreSQL is reset, several times',
  needs: [],
  shortCount: 1,
  longCount: 20,
  async inject(round): Promise<Undo> {
    const times = round.random.between(1, 5);
    for (let n = 0; n < times; n += 1) {
      round.cluster.proxy.resetAll();
      await round.pause(0, 200);
    }
    return async () => {};
  },
  verify: async (round) => checkAnswers(round, 0, REFUSED_MAX_MS),
};

export const networkSlow: Scenario = {
  name: 'network-slow',
  about: 'half a second between nodes and PostgreSQL, each way',
  needs: [],
  shortCount: 1,
  longCount: 10,
  async inject(round) {
    const { proxy } = round.cluster;
    proxy.setWeather({ kind: 'latency', ms: LATENCY_MS });
    await round.pause(1_500, round.isLong ? 15_000 : 2_000);
    return async () => proxy.setWeather({ kind: 'pass' });
  },
  verify: async (round) => checkAnswers(round, 0, ANSWER_MAX_MS),
};

export const networkRefused: Scenario = {
  name: 'network-refused',
  about: 'nobody listens where PostgreSQL was, and what was connected is reset',
  needs: [],
  shortCount: 1,
  longCount: 10,
  async inject(round) {
    const { proxy } = round.cluster;
    await proxy.refuse();
    await round.pause(500, round.isLong ? 10_000 : 1_500);
    return () => proxy.accept();
  },
  verify: async (round) => checkAnswers(round, 0, REFUSED_MAX_MS),
};

/** Whatever happens to the way, every request that began after `fromMs` has its answer in time, or still has time for it. */
export function checkAnswers(round: Round, fromMs: number, maxMs: number): void {
  const nowMs = performance.now();
  for (const { kind, attempts } of round.journal.operations) {
    for (const { trace, startedMs, endedMs, outcome, note } of attempts) {
      const tookMs = (outcome === 'pending' ? nowMs : endedMs) - startedMs;
      if (startedMs >= fromMs && tookMs > maxMs)
        round.violate(`${trace} ${kind}: ${note || 'no answer'} after ${Math.round(tookMs)} ms`);
    }
  }
}
