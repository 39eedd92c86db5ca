export interface Memory<V> {
  /** What is remembered under the key, or what `load` finds; callers at the same time share one look-up. */
  find(key: string, load: () => Promise<V | undefined>): V | Promise<V | undefined>;
  forgetTenant(tenantId: string): void;
  forgetAll(): void;
  readonly size: () => number;
}

export interface MemoryOptions<V> {
  readonly entriesMax: number;
  /** Where values differ much in size: what one takes, and how much all of them may. */
  readonly bytesOf?: ((value: V) => number) | undefined;
  readonly bytesMax?: number;
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
  const entries = new Entries(options);
  const loading = new Map<string, Promise<V | undefined>>();
  let epoch = 0;

  async function loadOnce(key: string, load: () => Promise<V | undefined>): Promise<V | undefined> {
    const startedIn = epoch;
    const found = await load();
    if (found !== undefined && startedIn === epoch && options.isTrusted()) entries.add(key, found);
    return found;
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
        entries.use(key, known);
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
      entries.dropAll((value) => options.tenantOf(value) === tenantId);
    },
    forgetAll() {
      begin();
      entries.dropAll(() => true);
    },
    size: () => entries.size(),
  };
}

/** As many as there is room for; the least recently used goes first. */
class Entries<V> {
  readonly #values = new Map<string, V>();
  readonly #entriesMax: number;
  readonly #bytesMax: number;
  readonly #bytesOf: (value: V) => number;
  #bytes = 0;

  constructor({ entriesMax, bytesMax, bytesOf }: Pick<MemoryOptions<V>, 'entriesMax' | 'bytesMax' | 'bytesOf'>) {
    this.#entriesMax = entriesMax;
    this.#bytesMax = bytesMax ?? Number.POSITIVE_INFINITY;
    this.#bytesOf = bytesOf ?? (() => 0);
  }

  size(): number {
    return this.#values.size;
  }

  get(key: string): V | undefined {
    return this.#values.get(key);
  }

  add(key: string, value: V): void {
    this.#drop(key);
    this.#values.set(key, value);
    this.#bytes += this.#bytesOf(value);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#entriesMax && this.#bytes <= this.#bytesMax) return;
      this.#drop(oldest);
    }
  }

  /** Moving an entry to the recent end takes time, so it is done only once the table could overflow. */
  use(key: string, value: V): void {
    if (this.#values.size * 2 <= this.#entriesMax && this.#bytes * 2 <= this.#bytesMax) return;
    this.#values.delete(key);
    this.#values.set(key, value);
  }

  dropAll(isMeant: (value: V) => boolean): void {
    for (const [key, value] of this.#values) if (isMeant(value)) this.#drop(key);
  }

  #drop(key: string): void {
    const value = this.#values.get(key);
    if (value === undefined) return;
    this.#values.delete(key);
    this.#bytes -= this.#bytesOf(value);
  }
}
