export interface Lru<V> {
  get(key: string): V | undefined;
  set(key: string, value: V): V;
  readonly size: () => number;
}

/** The values used last, at most so many. */
export function createLru<V>(entriesMax: number): Lru<V> {
  const entries = new Map<string, V>();
  return {
    get(key) {
      const value = entries.get(key);
      // Moving an entry to the young end costs, so it is done only once the table could overflow.
      if (value !== undefined && entries.size * 2 > entriesMax) {
        entries.delete(key);
        entries.set(key, value);
      }
      return value;
    },
    set(key, value) {
      entries.set(key, value);
      if (entries.size > entriesMax) {
        for (const oldest of entries.keys()) {
          entries.delete(oldest);
          break;
        }
      }
      return value;
    },
    size: () => entries.size,
  };
}
