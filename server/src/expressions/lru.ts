export interface Lru<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): V;
  readonly size: () => number;
}

/**
 * The values used last, at most so many. Two generations: when the young one is full it becomes the old one, and what is
 * asked for moves back. Dropping the oldest entry of one map would mean stepping over all that were dropped before it.
 */
export function createLru<V>(entriesMax: number): Lru<V> {
  const generationEntriesMax = Math.ceil(entriesMax / 2);
  let young = new Map<string, V>();
  let old = new Map<string, V>();

  function set(key: string, value: V): V {
    if (young.size >= generationEntriesMax) {
      old = young;
      young = new Map();
    }
    young.set(key, value);
    return value;
  }

  return {
    get(key) {
      const value = young.get(key);
      if (value !== undefined) return value;
      const earlier = old.get(key);
      return earlier === undefined ? undefined : set(key, earlier);
    },
    set,
    size: () => young.size + old.size,
  };
}
