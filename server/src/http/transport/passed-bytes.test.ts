// alone: it measures the memory of its process

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { youngCollector } from '../../kernel/young-memory.js';
import { createPassedBytes } from './passed-bytes.js';

const MIB = 1_048_576;
const PIECE_BYTES = 65_536;

describe('bytes that pass through', () => {
  it('has the memory given back with every 8 MiB of them, whoever they belong to', () => {
    let collected = 0;
    const passed = createPassedBytes(() => {
      collected += 1;
    });
    passed.note(8 * MIB - 1);
    assert.equal(collected, 0);
    passed.note(1);
    assert.equal(collected, 1);
    for (let bytes = 0; bytes < 100 * MIB; bytes += PIECE_BYTES) passed.note(PIECE_BYTES);
    assert.equal(collected, 13);
  });

  it('100 MiB of pieces take less than 16 MiB, which is what they would take at least if they were left alone', () => {
    const takes = (collect: (() => void) | undefined): number => {
      const passed = createPassedBytes(collect);
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      for (let bytes = 0; bytes < 100 * MIB; bytes += PIECE_BYTES) {
        passed.note(Buffer.alloc(PIECE_BYTES).length);
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }
      return most;
    };
    const collect = youngCollector();
    assert.ok(collect, 'this platform offers it');
    collect();
    const bounded = takes(collect);
    assert.ok(bounded < 16 * MIB, `${bounded} bytes`);
    const left = takes(undefined);
    assert.ok(left > 16 * MIB, `${left} bytes`);
  });
});
