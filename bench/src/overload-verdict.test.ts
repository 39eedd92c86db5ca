import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Second } from './load/open.js';
import { dueAt } from './load/open.js';
import { judgeOverload } from './overload-verdict.js';

function second(change: Partial<Second>): Second {
  const quiet = { offered: 100, ok: 100, refused: 0, wrong: 0, unsent: 0, lost: 0, okP99Ms: 10, refusedP99Ms: 0 };
  return { ...quiet, lagMs: 0, ...change };
}

const CALM = Array.from({ length: 4 }, () => second({}));
const STORM = Array.from({ length: 6 }, () => second({ offered: 800, ok: 150, refused: 640, unsent: 10 }));

describe('what an overload showed', () => {
  it('goodput is the middle second, whatever the first one was', () => {
    const storm = [second({ offered: 800, ok: 0 }), ...STORM.slice(1)];
    assert.equal(judgeOverload([...CALM, ...storm, ...CALM], 4, 6, []).goodput, 150);
  });

  it('answers are as before only after the last second that was not', () => {
    const after = [second({ okP99Ms: 900 }), second({}), second({ refused: 1 }), second({}), second({})];
    assert.equal(judgeOverload([...CALM, ...STORM, ...after], 4, 6, []).secondsToNormal, 3);
    assert.equal(judgeOverload([...CALM, ...STORM, ...CALM], 4, 6, []).secondsToNormal, 0);
  });

  it('memory that grows while it lasts is seen, memory that rose at its start is not', () => {
    const before = [100, 100, 100, 100];
    const grown = judgeOverload([...CALM, ...STORM], 4, 6, [...before, 200, 220, 240, 260, 280, 300]);
    assert.ok(grown.memoryGrowth > 1.3);
    const flat = judgeOverload([...CALM, ...STORM], 4, 6, [...before, 200, 200, 200, 200, 200, 200]);
    assert.equal(flat.memoryGrowth, 1);
  });

  it('lost requests and odd answers are counted wherever they happen', () => {
    const after = [second({ lost: 2 }), second({ wrong: 3 })];
    assert.equal(judgeOverload([...CALM, ...STORM, ...after], 4, 6, []).wrong, 5);
  });

  it('requests fall due by the clock, phase by phase', () => {
    const due = dueAt([
      { seconds: 2, perSecond: 10 },
      { seconds: 1, perSecond: 100 },
    ]);
    assert.deepEqual([0, 1, 2, 2.5, 3, 9].map(due), [0, 10, 20, 70, 120, 120]);
  });
});
