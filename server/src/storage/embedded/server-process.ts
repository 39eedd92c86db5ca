import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { Account } from './account.js';
import { type BoundChild, type Program, spawnBound } from './bound-child.js';
import { followLines } from './log-tail.js';
import { readPostmasterFile } from './postmaster-file.js';
import { until } from './until.js';

const APPEAR_LIMIT_MS = 15_000;
/** Replay after a crash takes as long as there is log to replay. */
const RECOVERY_LIMIT_MS = 120_000;
const CLEAN_STOP_MS = 20_000;
const HARD_STOP_MS = 8_000;

export interface ServerProcess {
  readonly pid: number;
  /** Ends with the process, however it ends, and says how. */
  readonly ended: Promise<string>;
  stop(): Promise<void>;
}

/** Starts the server and comes back when it takes connections. */
export async function launchServer(
  account: Account,
  program: Program,
  cluster: string,
  log: (line: string) => void,
): Promise<ServerProcess> {
  const child = await spawnBound(account, program);
  const tail = followLines(child.process, log);
  let ending: string | undefined;
  const ended = child.ended.then(async (how) => {
    ending = how;
    return `The PostgreSQL server ended (${how}). ${await tail()}`.trim();
  });
  const hasStatus = async (wanted: readonly string[]) => {
    const file = await readPostmasterFile(cluster);
    if (ending !== undefined) return false;
    return file?.pid === child.pid && wanted.includes(file.status) ? true : undefined;
  };
  const isUp =
    (await until(APPEAR_LIMIT_MS, () => hasStatus(['starting', 'ready']))) &&
    (await until(RECOVERY_LIMIT_MS, () => hasStatus(['ready'])));
  if (isUp) return { pid: child.pid, ended, stop: () => stopChild(child) };
  if (ending === undefined) await stopChild(child);
  throw new ExitError(EXIT.unavailable, `The PostgreSQL server did not start in ${cluster}. ${await ended}`);
}

/** Fast shutdown, which writes everything out; then the immediate one, which leaves replaying to the next start. */
async function stopChild(child: BoundChild): Promise<void> {
  for (const [signal, limitMs] of [
    ['SIGINT', CLEAN_STOP_MS],
    ['SIGQUIT', HARD_STOP_MS],
  ] as const) {
    child.process.kill(signal);
    if (await endsWithin(child, limitMs)) return;
  }
  child.process.kill('SIGKILL');
  await child.ended;
}

async function endsWithin(child: BoundChild, limitMs: number): Promise<boolean> {
  const timer = new AbortController();
  const late = pause(limitMs, false, { signal: timer.signal }).catch(() => false);
  const isEnded = await Promise.race([child.ended.then(() => true), late]);
  timer.abort();
  return isEnded;
}
