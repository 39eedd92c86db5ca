import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { Turns } from './turns.js';

const TURN_MS = 100;

/** Turns whose processes are numbers; tells which of them run. */
function open(t: TestContext, places: number) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const joined = new Map<number, string>();
  const paused = new Set<number>();
  const turns = new Turns(places, (pid, isPaused) => void (isPaused ? paused.add(pid) : paused.delete(pid)));
  return {
    join(tenantId: string, pid: number) {
      joined.set(pid, tenantId);
      turns.join(tenantId, pid);
    },
    leave(tenantId: string, pid: number) {
      turns.leave(tenantId, pid);
      assert.ok(!paused.has(pid), 'whoever leaves runs');
      if (joined.get(pid) === tenantId) joined.delete(pid);
    },
    running: () => [...joined.keys()].filter((pid) => !paused.has(pid)),
    pass: () => t.mock.timers.tick(TURN_MS),
  };
}

it('as many run as there are places, and each of the others has its turn', (t) => {
  const turns = open(t, 2);
  for (const pid of [1, 2, 3, 4, 5]) turns.join('a', pid);
  const had = new Set<number>();
  for (let turn = 0; turn < 5; turn += 1) {
    assert.equal(turns.running().length, 2);
    for (const pid of turns.running()) had.add(pid);
    turns.pass();
  }
  assert.deepEqual([...had].sort(), [1, 2, 3, 4, 5]);
});

it('a tenant with one process runs as often as one with many', (t) => {
  const turns = open(t, 1);
  for (const pid of [1, 2, 3, 4]) turns.join('a', pid);
  turns.join('b', 9);
  let ofB = 0;
  for (let turn = 0; turn < 20; turn += 1) {
    turns.pass();
    if (turns.running().includes(9)) ofB += 1;
  }
  assert.equal(ofB, 10);
});

it('whoever leaves makes room at once, and the last ones run without turns', (t) => {
  const turns = open(t, 1);
  for (const pid of [1, 2, 3]) turns.join('a', pid);
  const [first = 0] = turns.running();
  turns.leave('a', first);
  assert.equal(turns.running().length, 1);
  const paused = [1, 2, 3].find((pid) => pid !== first && !turns.running().includes(pid)) ?? 0;
  turns.leave('a', paused);
  const [last] = turns.running();
  for (let turn = 0; turn < 3; turn += 1) turns.pass();
  assert.deepEqual(turns.running(), [last]);
});

it('one that never joined cannot leave', (t) => {
  const turns = open(t, 1);
  turns.join('a', 1);
  turns.leave('a', 2);
  turns.leave('b', 1);
  assert.deepEqual(turns.running(), [1]);
});
