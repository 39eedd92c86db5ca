// needs: processes

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as rest } from 'node:timers/promises';
import { descendants } from '@strongroom/test-servers/descendants.js';
import { findProgram, unless } from '@strongroom/test-servers/find.js';

const POLL_MS = 25;
const BEGIN_MS = 120_000;
const END_MS = 120_000;
/** From the terminal, and from npm, which passes it on. */
const BETWEEN_SIGNALS_MS = 2;

interface Interrupted {
  readonly exitCode: number | null;
  /** What it had started, by process id. */
  readonly started: ReadonlyMap<number, string>;
}

/** Runs a program of ours until it has started what is looked for, and sends a signal to it alone, twice, as Ctrl-C at npm does. */
async function interrupt(
  args: readonly string[],
  signal: 'SIGINT' | 'SIGTERM',
  awaited: RegExp,
  env: Readonly<Record<string, string>> = {},
): Promise<Interrupted> {
  // A runner would take this one for its parent and run nothing.
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const child = spawn(process.execPath, args, { env: { ...own, ...env }, stdio: 'ignore' });
  const { pid = 0 } = child;
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const started = new Map<number, string>();
  const look = (): void => {
    for (const found of descendants(pid)) started.set(found, commandOf(found) || (started.get(found) ?? ''));
  };
  try {
    const beginMs = performance.now() + BEGIN_MS;
    while (![...started.values()].some((command) => awaited.test(command))) {
      assert.ok(!isOver && performance.now() < beginMs, `it never started ${awaited}`);
      look();
      await rest(POLL_MS);
    }
    child.kill(signal);
    await rest(BETWEEN_SIGNALS_MS);
    child.kill(signal);
    const endMs = performance.now() + END_MS;
    while (!isOver) {
      assert.ok(performance.now() < endMs, 'it did not end');
      look();
      await rest(POLL_MS);
    }
    return { exitCode: await ended, started };
  } finally {
    child.kill('SIGKILL');
  }
}

/** Empty for a process that has ended. */
function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

function assertGone({ started }: Interrupted): void {
  const left = [...started].filter(([pid, command]) => command !== '' && commandOf(pid) === command);
  // A test that fails must not do what it complains of.
  for (const [pid] of left) process.kill(pid, 'SIGQUIT');
  assert.deepEqual(left, []);
}

describe('a run that is interrupted', () => {
  it('143 from the fuzzer: the product and its database are gone, and so is their folder', async () => {
    const folder = await mkdtemp('/tmp/sr-i-');
    try {
      const run = await interrupt(['fuzz/dist/main.js'], 'SIGTERM', /postgres.*checkpointer/, { TMPDIR: folder });
      assert.equal(run.exitCode, 143);
      assertGone(run);
      assert.deepEqual(await readdir(folder), []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  for (const [signal, code, moment, awaited] of [
    ['SIGINT', 130, 'while it sets up', /initdb.* -D /],
    ['SIGTERM', 143, 'while its nodes start', /main\.js serve/],
  ] as const) {
    it(`${code} from the faults ${moment}: servers and nodes are gone, and so are their folders`, async () => {
      const run = await interrupt(['faults/dist/main.js', '--only', 'api-kill'], signal, awaited);
      assert.equal(run.exitCode, code);
      assertGone(run);
      const named = [...run.started.values()].flatMap((command) => [...command.matchAll(/\/tmp\/sr-[\w-]+/g)]);
      assert.ok(named.length > 0, 'the folder was seen');
      for (const [path] of named) assert.ok(!existsSync(path), path);
    });
  }

  it('143 from the runner of the tests: what a test file started is gone, and so is the database of the run', {
    skip: unless(findProgram('redis-server'), 'redis-server'),
  }, async () => {
    const folder = await mkdtemp('/tmp/sr-i-');
    try {
      const args = [join('tools', 'dist', 'test.js'), 'limits/redis-faults'];
      const run = await interrupt(args, 'SIGTERM', /redis-server/, { TMPDIR: folder });
      assert.equal(run.exitCode, 143);
      assertGone(run);
      assert.deepEqual(await readdir(folder), []);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
