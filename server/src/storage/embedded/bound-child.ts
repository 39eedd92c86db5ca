import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { assert } from '../../kernel/assert.js';
import type { Account } from './account.js';
import { BINDING_SCRIPT } from './binding-script.js';

const SEARCH_PATH = '/usr/bin:/bin:/usr/sbin:/sbin:/run/current-system/sw/bin';

export interface Program {
  readonly path: string;
  readonly args: readonly string[];
  /** Search path for shared libraries, before the usual one. */
  readonly libraries?: string | undefined;
  /** The server's `postmaster.pid`, by which a later signal makes sure that the process id still is its own. */
  readonly pidFile?: string;
}

export interface BoundChild {
  readonly process: ChildProcess;
  readonly pid: number;
  /** How it ended, in words: `exit code 1` or `signal SIGKILL`. */
  readonly ended: Promise<string>;
}

/**
 * Starts a program that does not outlive this process, in a process group of its own: the terminal's Ctrl-C must not
 * stop PostgreSQL before the API has drained. It gets a bare environment, because ours may hold keys, and `PG…`
 * variables would change what it does.
 */
export async function spawnBound(account: Account, program: Program, stdin?: string): Promise<BoundChild> {
  const { path, args, libraries, pidFile = '' } = program;
  const child = spawn('/bin/sh', ['-c', BINDING_SCRIPT, 'sh', pidFile, ...account.prefix, path, ...args], {
    ...account.ids,
    cwd: '/',
    detached: true,
    env: { PATH: SEARCH_PATH, LC_ALL: 'C', ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', 'pipe'],
  });
  await once(child, 'spawn');
  const lifeline = child.stdio[3];
  assert(lifeline instanceof Writable && child.pid !== undefined, 'a spawned child has a process id and its pipes');
  // A signal that cannot be sent and a pipe without reader are both seen by whether the child ends.
  child.on('error', () => {});
  lifeline.on('error', () => {});
  child.stdin?.on('error', () => {}).end(stdin);
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      // Before the pipe closes: the watcher would take a bare end for the death of this process.
      lifeline.end('released\n', () => lifeline.destroy());
      resolve(signal === null ? `exit code ${code}` : `signal ${signal}`);
    });
  });
  return { process: child, pid: child.pid, ended };
}

export interface ChildOutcome {
  readonly isSuccess: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, or to the end of the time it is given. */
export async function runBound(
  account: Account,
  program: Program,
  limitMs: number,
  stdin?: string,
): Promise<ChildOutcome> {
  const child = await spawnBound(account, program, stdin);
  const { stdout, stderr } = child.process;
  assert(stdout && stderr, 'a bound child writes into pipes');
  const timer = setTimeout(() => child.process.kill('SIGKILL'), limitMs);
  const [output, complaints, ended] = await Promise.all([text(stdout), text(stderr), child.ended]);
  clearTimeout(timer);
  const isSuccess = ended === 'exit code 0';
  return { isSuccess, stdout: output, stderr: complaints.trim() || (isSuccess ? '' : ended) };
}
