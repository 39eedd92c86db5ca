import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { getPriority } from 'node:os';
import { it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { watchRun } from './demotion.js';

const LOWEST = 19;

it('a run that computes goes behind others, and one that only waits does not', async (t) => {
  const start = (program: string, ...args: string[]): number => {
    const child = spawn(program, args, { stdio: 'ignore' });
    t.after(() => child.kill('SIGKILL'));
    return child.pid ?? 0;
  };
  const waiting = start('sleep', '60');
  const computing = start(process.execPath, '-e', 'for (;;);');
  const stopWaiting = watchRun(waiting);
  const stopComputing = watchRun(computing);
  await eventually('the one that computes is behind', () => getPriority(computing) === LOWEST);
  assert.notEqual(getPriority(waiting), LOWEST);
  assert.equal(stopWaiting(), false);
  stopComputing();
});
