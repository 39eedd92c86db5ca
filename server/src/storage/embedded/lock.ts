import { readFile, rm, writeFile } from 'node:fs/promises';
import { systemClock } from '../../kernel/clock.js';
import { EXIT, ExitError } from '../../kernel/exit.js';
import type { DataFolder } from './data-folder.js';
import { errorCode, ifPresent } from './error-code.js';
import { takeKernelLock } from './kernel-lock.js';
import { until } from './until.js';

const HOLDER_WAIT_MS = 500;

/** Who holds the folder. Only ever read to tell a person: the lock itself is the kernel's. */
export interface LockHolder {
  readonly pid: number;
  readonly command: string;
  readonly startedAt: string;
}

export interface Lock {
  /** Writes down who holds the folder, for the message to a second process. */
  announce(command: string): Promise<void>;
  release(): Promise<void>;
}

export async function acquireLock(folder: DataFolder): Promise<Lock> {
  const release = await takeKernelLock(folder);
  // The holder may have taken the lock a moment ago and not have written its name yet.
  if (release === undefined) throw inUse(folder, await until(HOLDER_WAIT_MS, () => readLivingHolder(folder)));
  let isAnnounced = false;
  return {
    announce: async (command) => {
      const startedAt = new Date(systemClock.nowMs()).toISOString();
      // A file left by another account cannot be opened, but the owner of the folder may replace it.
      await rm(folder.lockFile, { force: true });
      isAnnounced = true;
      await writeFile(folder.lockFile, JSON.stringify({ pid: process.pid, command, startedAt }), { mode: 0o600 });
    },
    release: async () => {
      // Only our own name, and before the lock: afterwards it would be the next holder's.
      if (isAnnounced) await rm(folder.lockFile, { force: true });
      await release();
    },
  };
}

export function inUse(folder: DataFolder, holder: LockHolder | undefined): ExitError {
  const who = holder ? `process ${holder.pid} (${holder.command}, since ${holder.startedAt})` : 'another process';
  return new ExitError(
    EXIT.dataFolderInUse,
    `The data folder ${folder.root} is in use by ${who}. Stop that process first, or set STRONGROOM_DATA_DIR ` +
      'to another folder.',
  );
}

export async function readLivingHolder(folder: DataFolder): Promise<LockHolder | undefined> {
  const text = await ifPresent(readFile(folder.lockFile, 'utf8')).catch(() => undefined);
  const holder = text === undefined ? undefined : parseHolder(text);
  return holder && isAlive(holder.pid) ? holder : undefined;
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: Partial<Record<string, unknown>> = Object(JSON.parse(text));
    const { pid, command, startedAt } = value;
    if (typeof pid !== 'number' || typeof command !== 'string' || typeof startedAt !== 'string') return undefined;
    return { pid, command, startedAt };
  } catch {
    return undefined;
  }
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, under another account.
    return errorCode(error) === 'EPERM';
  }
}
