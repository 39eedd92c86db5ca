// needs: processes

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { missingLimitOf } from './read-back.js';

const LIMITS = { dataMiB: 768, descriptors: 256, processes: 32 };
const FLAT = { mode: 'flat', landlock: 1 } as const;
const isLinux = process.platform === 'linux';

/** What the limits of a shell lack once it has set some of them for itself. */
async function missingBehind(script: string): Promise<string | undefined> {
  const shell = spawn('sh', ['-c', `${script}; echo ready; read line`], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(shell.stdout, 'data');
    return await missingLimitOf(FLAT, LIMITS, shell.pid ?? 0);
  } finally {
    shell.stdin.end('\n');
    await once(shell, 'exit');
  }
}

test('a process without limits lacks the first of them', { skip: !isLinux && 'there is no /proc here' }, async () => {
  assert.equal(await missingLimitOf(FLAT, LIMITS, process.pid), 'Max data size');
});

test('each limit that is missing is told, and one that can be raised again is none', { skip: !isLinux }, async () => {
  assert.equal(await missingBehind('ulimit -d 786432'), 'Max open files');
  assert.equal(await missingBehind('ulimit -S -d 786432'), 'Max data size');
  assert.equal(await missingBehind('ulimit -d 786433'), 'Max data size');
  assert.equal(await missingBehind('ulimit -d 1024; ulimit -n 257'), 'Max open files');
  assert.equal(await missingBehind('ulimit -d 1024; ulimit -n 256; ulimit -c 0'), 'Max file size');
});
