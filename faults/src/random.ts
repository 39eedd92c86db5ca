/** Every choice of a round comes from here, so that a seed is enough to make the same choices again. */
export interface Random {
  /** From 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  between(min: number, max: number): number;
  chance(share: number): boolean;
  pick<T>(values: readonly T[]): T;
  /** Letters and digits. */
  text(length: number): string;
  /** A generator of its own that does not depend on how often this one is asked later. */
  fork(name: string): Random;
}

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789';

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const random: Random = {
    // Mulberry32: small, well spread, and the same everywhere.
    next() {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = state;
      t = Math.imul(t ^ (t >>> 15), t | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
    },
    between: (min, max) => min + Math.floor(random.next() * (max - min + 1)),
    chance: (share) => random.next() < share,
    pick(values) {
      const value = values[Math.floor(random.next() * values.length)];
      if (value === undefined) throw new Error('nothing to pick from');
      return value;
    },
    text: (length) => Array.from({ length }, () => LETTERS[random.between(0, LETTERS.length - 1)]).join(''),
    fork: (name) => createRandom(mixSeed(seed, name)),
  };
  return random;
}

/** The seed of a round, from the seed of the run. The first round has the seed itself, so that one round replays alone. */
export function seedOfRound(seed: number, round: number): number {
  return round === 0 ? seed >>> 0 : mixSeed(seed, `round ${round}`);
}

function mixSeed(seed: number, name: string): number {
  let hash = (seed ^ 0x811c9dc5) >>> 0;
  for (const char of name) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash;
}
