import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { costOf } from './cost.js';
import { parseStat, readProcesses, treeOf } from './process-tree.js';

const SPIN_MS = 300;

describe('processor time from /proc', () => {
  it('a name with spaces and brackets does not shift the fields', () => {
    const row = parseStat('42 (a b) c) S 7 1 1 0 -1 4194304 10 11 12 13 100 20 3 4 20 0 1 0 5 6 7');
    assert.deepEqual(row, { pid: 42, parent: 7, name: 'a b) c', ticks: 127, ownTicks: 120 });
    assert.equal(parseStat(''), undefined);
  });

  it('a tree is the process and all below it', () => {
    const rows = [
      { pid: 1, parent: 0 },
      { pid: 2, parent: 1 },
      { pid: 3, parent: 2 },
      { pid: 4, parent: 1 },
    ].map((row) => ({ ...row, name: 'x', ticks: 1, ownTicks: 1 }));
    assert.deepEqual(
      treeOf(rows, 2).map(({ pid }) => pid),
      [2, 3],
    );
  });

  it('time that this very process spends is charged to it', async () => {
    assert.ok((await readProcesses()).some(({ pid }) => pid === process.pid));
    const { cost } = await costOf({ api: process.pid, database: undefined }, async () => {
      const usedMs = (): number => process.cpuUsage().user / 1_000;
      const untilMs = usedMs() + SPIN_MS;
      while (usedMs() < untilMs);
    });
    assert.ok(cost.apiSeconds >= 0.2, `${cost.apiSeconds} s of processor time`);
    assert.ok(cost.rssMb > 10);
    assert.equal(cost.databaseSeconds, 0);
  });
});
