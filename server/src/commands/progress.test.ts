import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../testing/fake-clock.js';
import { createProgress } from './progress.js';

function setUp(isTerminal: boolean) {
  const lines: string[] = [];
  const add = (line: string) => lines.push(line);
  const clock = createFakeClock(0);
  const output = { print: assert.fail, say: isTerminal ? assert.fail : add, ...(isTerminal && { rewrite: add }) };
  return { lines, clock, progress: createProgress(output, clock) };
}

test('elsewhere than at a terminal: a line for each phase, then one every ten seconds with count and rate', () => {
  const { lines, clock, progress } = setUp(false);
  for (let done = 0; done <= 2_000; done += 100) {
    progress.show('Sealing', done, 2_000);
    clock.advance(1_000);
  }
  progress.show('Waiting', 0, 0);
  assert.deepEqual(lines, [
    'Sealing: 0 of about 2000',
    'Sealing: 1000 of about 2000, 100/s',
    'Sealing: 2000 of about 2000, 100/s',
    'Waiting',
  ]);
});

test('at a terminal: a bar that is rewritten at most five times a second and never outgrows its place', () => {
  const { lines, clock, progress } = setUp(true);
  for (let done = 0; done <= 60; done += 1) {
    progress.show('Sealing', done, 40);
    clock.advance(100);
  }
  assert.equal(lines.length, 31);
  assert.equal(lines[0], '[------------------------] Sealing: 0 of about 40');
  assert.equal(lines[10], '[############------------] Sealing: 20 of about 40, 10/s');
  assert.equal(lines[30], '[########################] Sealing: 60 of about 40, 10/s');
});

test('without a total: the count alone', () => {
  const { lines, clock, progress } = setUp(false);
  progress.show('Opening', 500, 0);
  clock.advance(10_000);
  progress.show('Opening', 1_000, 0);
  assert.deepEqual(lines, ['Opening: 500', 'Opening: 1000, 100/s']);
});
