import type { LimitRow } from './catalogue.js';

/** Blocks this node knows of, so that a blocked client costs no call. */
export interface BlockCache {
  /** Milliseconds left of a block, 0 when none is known. */
  left(limitKey: string, row: LimitRow, nowMs: number): number;
  add(limitKey: string, row: LimitRow, untilMs: number): void;
}

/**
 * Bounded for each limit. Blocks of one limit all last as long, so the first to come is the first to end: it goes when
 * there is no room, and its client is asked about again. Nothing is lost by forgetting.
 */
export function createBlockCache(entriesMax: number): BlockCache {
  const byRow = new Map<number, Map<string, number>>();

  return {
    left(limitKey, row, nowMs) {
      const blocks = byRow.get(row.ordinal);
      const untilMs = blocks?.get(limitKey);
      if (blocks === undefined || untilMs === undefined) return 0;
      if (untilMs > nowMs) return untilMs - nowMs;
      blocks.delete(limitKey);
      return 0;
    },
    add(limitKey, row, untilMs) {
      if (entriesMax === 0) return;
      let blocks = byRow.get(row.ordinal);
      if (blocks === undefined) {
        blocks = new Map();
        byRow.set(row.ordinal, blocks);
      }
      blocks.delete(limitKey);
      blocks.set(limitKey, untilMs);
      if (blocks.size <= entriesMax) return;
      for (const oldest of blocks.keys()) {
        blocks.delete(oldest);
        return;
      }
    },
  };
}
