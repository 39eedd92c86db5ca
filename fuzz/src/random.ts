/** A source of choices that gives the same ones again for the same name. */
export interface Random {
  /** A whole number from 0 up to, but not including, `end`. */
  below(end: number): number;
  /** True in one of `times` draws. */
  oneIn(times: number): boolean;
  pick<T>(list: readonly T[]): T;
  bytes(length: number): Buffer;
  text(length: number, alphabet: string): string;
  shuffle<T>(list: readonly T[]): T[];
}

const WORD = 2 ** 32;

/** Each case has a source of its own, named by seed, part and number, so that it can be repeated without those before. */
export function randomFor(name: string): Random {
  let state = hashOf(name);

  /** Mulberry32: small, fast, and good enough to choose inputs with. Nothing secret comes from it. */
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / WORD;
  }
  const below = (end: number): number => Math.floor(next() * end);

  return {
    below,
    oneIn: (times) => below(times) === 0,
    pick(list) {
      const found = list[below(list.length)];
      if (found === undefined) throw new Error('assertion failed: there is something to pick from');
      return found;
    },
    bytes: (length) => Buffer.from(Array.from({ length }, () => below(256))),
    text: (length, alphabet) => Array.from({ length }, () => alphabet.charAt(below(alphabet.length))).join(''),
    shuffle(list) {
      const mixed = [...list];
      for (let at = mixed.length - 1; at > 0; at -= 1) {
        const other = below(at + 1);
        const [a, b] = [mixed[at], mixed[other]];
        if (a === undefined || b === undefined) continue;
        mixed[at] = b;
        mixed[other] = a;
      }
      return mixed;
    },
  };
}

/** FNV-1a, then mixed once more: names that differ in one digit must not give neighbouring states. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
