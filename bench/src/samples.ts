import { runLoad } from './load/run.js';
import type { Bench } from './plan.js';
import type { Latencies } from './statistics.js';

/** More than any sampling takes; it ends when everything was sent. */
const SECONDS_MAX = 600;

/**
 * Single answers timed one at a time on one connection, a request of each group in turn. Gives each group's latencies
 * by round. A group with fewer requests than samples sends them again; the first round only warms up.
 */
export async function sampleGroups(
  { plan, workshop }: Bench,
  port: number,
  groups: readonly (readonly string[])[],
): Promise<Latencies[][]> {
  const perRound = samplesPerRound(plan);
  const found: Latencies[][] = groups.map(() => []);
  for (let round = 0; round <= plan.rounds; round += 1) {
    const requests: string[] = [];
    for (let sample = 0; sample < perRound; sample += 1) {
      for (const group of groups) requests.push(group[(round * perRound + sample) % group.length] ?? '');
    }
    const options = { port, requests, connections: 1, seconds: SECONDS_MAX, isOnce: true, groups: groups.length };
    const result = await runLoad(workshop, options);
    if (round === 0) continue;
    for (const [place, latencies] of result.groups.entries()) found[place]?.push(latencies);
  }
  return found;
}

export function samplesPerRound({ samples, rounds }: Bench['plan']): number {
  return Math.ceil(samples / rounds);
}

/** How many requests a group needs when none may be sent twice. */
export function samplesInAll(plan: Bench['plan']): number {
  return samplesPerRound(plan) * (plan.rounds + 1);
}
