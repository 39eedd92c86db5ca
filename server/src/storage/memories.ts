import type { ChangeNotice } from './changes.js';
import type { Memory } from './memory.js';
import { createMemory } from './memory.js';

/** Something of tenants that is remembered in the process, and which notices of a change empty it. */
export interface CacheRecord<V> {
  readonly name: string;
  readonly emptiedBy: readonly ChangeNotice['kind'][];
  readonly tenantOf: (value: V) => string;
  /** Where values may be large: what one takes. */
  readonly bytesOf?: (value: V) => number;
}

export interface Memories {
  /** The memory of a record; throws for one that was not in the list, which no notice would empty. */
  of<V>(record: CacheRecord<V>): Memory<V>;
  onChange(change: ChangeNotice): void;
  /** Notices may have been missed. */
  forgetAll(): void;
}

export interface MemoriesOptions {
  readonly entriesMax: number;
  /** Of each memory whose record says what a value takes. */
  readonly bytesMax: number;
  /** False while changes made by another process might not be heard; then nothing is remembered. */
  readonly isTrusted: () => boolean;
}

/** One memory for each record, emptied as the record says. */
export function createMemories(records: readonly CacheRecord<never>[], options: MemoriesOptions): Memories {
  const memories = new Map(
    records.map((record) => [
      record,
      createMemory<never>({ ...options, tenantOf: record.tenantOf, bytesOf: record.bytesOf }),
    ]),
  );
  return {
    of<V>(record: CacheRecord<V>) {
      const memory = memories.get(record);
      if (memory === undefined) throw new Error(`the cache ${record.name} is declared by no slice`);
      // The record is the key, and what it remembers has the type that the record names.
      return memory as unknown as Memory<V>;
    },
    onChange({ kind, tenantId }) {
      for (const [{ emptiedBy }, memory] of memories) if (emptiedBy.includes(kind)) memory.forgetTenant(tenantId);
    },
    forgetAll() {
      for (const memory of memories.values()) memory.forgetAll();
    },
  };
}
