import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../kernel/clock.js';

const POLL_MS = 10;

/** Asks again and again until there is an answer or the time is over, and then answers undefined. */
export async function until<T>(limitMs: number, ask: () => Promise<T | undefined>): Promise<T | undefined> {
  const deadline = systemClock.monotonicMs() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined || systemClock.monotonicMs() >= deadline) return answer;
    await pause(POLL_MS);
  }
}
