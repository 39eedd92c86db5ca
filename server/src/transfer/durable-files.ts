import { constants } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { EXIT, ExitError } from '../kernel/exit.js';

export const OWNER_ONLY_FILE = 0o600;
export const OWNER_ONLY_FOLDER = 0o700;

/** A new name is an entry of its folder, and survives a power cut only when the folder is on disk too. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Gives a file that is whole and on disk its name. */
export async function publishFile(from: string, to: string): Promise<void> {
  await rename(from, to);
  await syncFolder(dirname(to));
}

export function isMissing(error: unknown): boolean {
  return errorCodeOf(error) === 'ENOENT';
}

export function errorCodeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault';
}

/** A fault of the file system as a sentence; everything else as it is. */
export function fileFault(path: string, error: unknown): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const next = errorCodeOf(error) === 'ENOSPC' ? 'Make room' : 'Check the path and who may use it';
  return new ExitError(
    EXIT.failure,
    `${basename(path)} cannot be used (${errorCodeOf(error)}). ${next}, then try again.`,
    error,
  );
}
