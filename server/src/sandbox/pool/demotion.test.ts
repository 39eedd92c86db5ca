// needs: account, processes

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import type { TestContext } from 'node:test';
import { it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import { NICE } from '../wall/wall-steps.js';
import { watchRun } from './demotion.js';

const LOWEST = 19;
const IS_ROOT = process.getuid?.() === 0;

/** In a session of its own, as an instance is. */
function start(t: TestContext, program: string, ...args: string[]): number {
  const child = spawn(program, args, { stdio: 'ignore', detached: true });
  t.after(() => child.kill('SIGKILL'));
  return child.pid ?? 0;
}

const startLooping = (t: TestContext): number => start(t, process.execPath, '-e', 'for (;;);');

it('a run that computes goes behind others, and one that only waits does not', async (t) => {
  const waiting = start(t, 'sleep', '60');
  const computing = startLooping(t);
  const stopWaiting = watchRun(waiting, () => {});
  const stopComputing = watchRun(computing, () => {});
  await eventually('the one that computes is behind', () => getPriority(computing) === LOWEST);
  assert.notEqual(getPriority(waiting), LOWEST);
  assert.equal(stopWaiting(), false);
  assert.equal(stopComputing(), !IS_ROOT, 'only root can use it again');
});

const isSharedBySession = readSetting('/proc/sys/kernel/sched_autogroup_enabled') === '1';

it('so does its session, where processors are shared between sessions', { skip: !isSharedBySession }, async (t) => {
  const pid = startLooping(t);
  const stop = watchRun(pid, () => {});
  await eventually('the session is behind', () => sessionPriority(pid) === LOWEST);
  assert.equal(stop(), !IS_ROOT);
  if (IS_ROOT) assert.equal(sessionPriority(pid), NICE, 'as the wall sets it');
});

function sessionPriority(pid: number): number {
  return Number(/nice (-?\d+)/.exec(readSetting(`/proc/${pid}/autogroup`))?.[1]);
}

function readSetting(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
