export interface Memory<V> {
  /** What is remembered under the key, or what `load` finds; callers at the same time share one look-up. */
  find(key: string, load: () => Promise<V | undefined>): V | Promise<V | undefined>;
  forgetTenant(tenantId: string): void;
  forgetAll(): void;
  readonly size: () => number;
}

export interface MemoryOptions<V> {
  readonly entriesMax: number;
  readonly tenantOf: (value: V) => string;
  /** False while changes made by another process might not be heard: then nothing is remembered. */
  readonly isTrusted: () => boolean;
}

/**
 * Rows kept in the process until a change is announced. Bounded, the least recently used goes first; only existing rows
 * are remembered, so guessing does not fill it. A look-up that was under way while something was forgotten is not
 * remembered: it may have read the old state.
 */
export function createMemory<V>(options: MemoryOptions<V>): Memory<V> {
  const entries = new Map<string, V>();
  const loading = new Map<string, Promise<V | undefined>>();
  let epoch = 0;

  async function loadOnce(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const startedIn = epoch;
    const found = await load();
    if (found !== undefined && startedIn === epoch && options.isTrusted()) {
      entries.set(key, found);
      if (entries.size > options.entriesMax) dropOldest();
    }
    return found;
  }

  function dropOldest(): void {
    for (const oldest of entries.keys()) {
      entries.delete(oldest);
      return;
    }
  }

  function begin(): void {
    epoch += 1;
    // New callers must not share a look-up that may have read the old state.
    loading.clear();
  }

  return {
    find(key, load) {
      const known = entries.get(key);
      if (known !== undefined && options.isTrusted()) {
        // Moving an entry to the recent end takes time, so it is done only once the table could overflow.
        if (entries.size * 2 > options.entriesMax) {
          entries.delete(key);
          entries.set(key, known);
        }
        return known;
      }
      const underWay = loading.get(key);
      if (underWay) return underWay;
      const started: Promise<V | undefined> = loadOnce(key, load).finally(() => {
        if (loading.get(key) === started) loading.delete(key);
      });
      loading.set(key, started);
      return started;
    },
    forgetTenant(tenantId) {
      begin();
      for (const [key, value] of entries) if (options.tenantOf(value) === tenantId) entries.delete(key);
    },
    forgetAll() {
      begin();
      entries.clear();
    },
    size: () => entries.size,
  };
}
