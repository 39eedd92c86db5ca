import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { IntegrityError } from '../crypto/integrity-error.js';
import type { StreamLock } from '../crypto/sealed-stream-keys.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { errorCodeOf, isMissing, OWNER_ONLY_FOLDER, syncFolder } from './durable-files.js';
import { EXPORT_MANIFEST_NAME } from './manifest.js';
import type { TransferProgress } from './progress.js';
import { PROGRESS_NAME, readProgress } from './progress.js';
import { PART_SUFFIX, segmentName } from './segment.js';

/** What was found in the place an export is to go to. */
export type FoundExport =
  | { readonly kind: 'empty' }
  | { readonly kind: 'unfinished'; readonly progress: TransferProgress }
  | { readonly kind: 'complete' };

/** Makes the folder, or looks at what an earlier run left there. Nothing that is not an export's is ever touched. */
export async function findExport(folder: string, keys: TenantKeys, isResuming: boolean): Promise<FoundExport> {
  const entries = await entriesOf(folder);
  if (entries === undefined) {
    if (isResuming) throw refused(`${folder} does not exist, so there is nothing to resume.`);
    await mkdir(folder, { mode: OWNER_ONLY_FOLDER }).catch((error: unknown) => {
      throw refused(`${folder} cannot be made (${errorCodeOf(error)}). Make the folder it is to lie in.`);
    });
    await syncFolder(dirname(join(folder, '.')));
    return { kind: 'empty' };
  }
  if (entries.length === 0) return { kind: 'empty' };
  if (!isResuming) {
    throw refused(`${folder} is not empty. Choose another folder, or go on with an unfinished export by --resume.`);
  }
  if (entries.includes(EXPORT_MANIFEST_NAME)) return { kind: 'complete' };
  const progress = await readProgress(folder, keys).catch((error: unknown) => {
    if (!(error instanceof IntegrityError)) throw error;
    throw refused(`The export in ${folder} is another Tenant's, or its book was changed. Choose another folder.`);
  });
  if (progress) return { kind: 'unfinished', progress };
  // Died before its first line was on disk: there is nothing but the book.
  if (entries.every((name) => name === PROGRESS_NAME)) return { kind: 'empty' };
  throw refused(`${folder} holds no unfinished export. Choose another folder.`);
}

/** Takes away what was under way when the last run died, and makes sure that what was finished is still there. */
export async function tidyUp(folder: string, { steps }: TransferProgress): Promise<void> {
  for (const { number, bytes } of steps) {
    const found = await stat(join(folder, segmentName(number))).catch(() => undefined);
    if (found?.size === bytes) continue;
    throw refused(`${segmentName(number)} is gone or not as it was. Put it back, or start a new export.`);
  }
  const known = new Set(steps.map(({ number }) => segmentName(number)));
  for (const name of await readdir(folder)) {
    const isLeftOver = name.endsWith(PART_SUFFIX) || (/^segment-\d+\.sealed$/.test(name) && !known.has(name));
    if (isLeftOver) await rm(join(folder, name));
  }
}

/** Segments under two locks would be an export that nobody can open as a whole. */
export function refuseOtherLock({ head }: TransferProgress, lock: StreamLock): void {
  if (lock.name === head.lock) return;
  throw refused('The export was begun with another passphrase or recipient. Give the same one to resume it.');
}

async function entriesOf(folder: string): Promise<string[] | undefined> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw refused(`${folder} cannot be read (${errorCodeOf(error)}). Name a folder.`);
  }
}

function refused(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}
