import type { ChangeNotice } from './changes.js';
import type { Memory } from './memory.js';
import { createMemory } from './memory.js';

/** Something of tenants that is remembered in the process, and which notices of a change empty it. */
export interface CacheRecord<V> {
  readonly name: string;
  readonly emptiedBy: readonly ChangeNotice['kind'][];
  readonly tenantOf: (value: V) => string;
}

export interface Memories {
  /** A memory that is emptied as its record says. */
  open<V>(record: CacheRecord<V>): Memory<V>;
  onChange(change: ChangeNotice): void;
  /** Notices may have been missed. */
  forgetAll(): void;
}

interface Opened {
  readonly emptiedBy: readonly ChangeNotice['kind'][];
  readonly memory: Pick<Memory<unknown>, 'forgetTenant' | 'forgetAll'>;
}

/** `isTrusted`: false while changes made by another process might not be heard; then nothing is remembered. */
export function createMemories(options: { readonly entriesMax: number; readonly isTrusted: () => boolean }): Memories {
  const opened: Opened[] = [];
  return {
    open(record) {
      const memory = createMemory({ ...options, tenantOf: record.tenantOf });
      opened.push({ emptiedBy: record.emptiedBy, memory });
      return memory;
    },
    onChange({ kind, tenantId }) {
      for (const { emptiedBy, memory } of opened) if (emptiedBy.includes(kind)) memory.forgetTenant(tenantId);
    },
    forgetAll() {
      for (const { memory } of opened) memory.forgetAll();
    },
  };
}
