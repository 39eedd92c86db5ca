// needs: engine

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../testing/eventually.js';
import { makeBaseFolder } from '../wall/base-folder.js';

const PROGRAM = fileURLToPath(new URL('./sandbox-program.js', import.meta.url));

describe('what a sandbox leaves behind', () => {
  it('nothing runs on when its process is killed in the middle of a run, and its folder is removed at the next start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-outlives-'));
    try {
      const child = spawn(process.execPath, [PROGRAM], {
        env: { ...process.env, TMPDIR: folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(child.stdout, 'data');
      const running = descendantsOf(child.pid ?? 0);
      assert.ok(running.length >= 2, 'the run and a blank');
      child.kill('SIGKILL');
      await once(child, 'exit');
      await eventually('all of them end', () => running.every((pid) => !isRunning(pid)));
      assert.equal(readdirSync(folder).length, 1, 'the folder of the killed process');
      const fresh = await makeBaseFolder(folder);
      assert.deepEqual(readdirSync(folder), [fresh.slice(folder.length + 1)]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

function descendantsOf(pid: number): number[] {
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => (parentOf(Number(name)) === pid ? Number(name) : []));
  return [...children, ...children.flatMap(descendantsOf)];
}

function parentOf(pid: number): number | undefined {
  return numberIn(pid, /^PPid:\s+(\d+)/m);
}

function isRunning(pid: number): boolean {
  return numberIn(pid, /^State:\s+[^ZX]/m) !== undefined;
}

function numberIn(pid: number, pattern: RegExp): number | undefined {
  try {
    const found = pattern.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
    return found ? Number(found[1] ?? 0) : undefined;
  } catch {
    return undefined;
  }
}
