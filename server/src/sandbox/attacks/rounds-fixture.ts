/** All of them as often as that, in an order that the seed decides. */
export function rounds<T>(items: readonly T[], count: number, seed: number): readonly T[] {
  const next = numbers(seed);
  const all = Array.from({ length: count }, () => items).flat();
  for (let last = all.length - 1; last > 0; last -= 1) {
    const other = Math.floor(next() * (last + 1));
    const [a, b] = [all[last], all[other]];
    if (a !== undefined && b !== undefined) [all[last], all[other]] = [b, a];
  }
  return all;
}

/** Numbers from 0 to 1, the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
