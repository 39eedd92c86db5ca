import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openField, sealField } from '../crypto/envelope.js';
import type { TenantKeys } from '../crypto/tenant-keys.js';
import { withWiped } from '../crypto/wiped.js';
import { isUuid } from '../kernel/ids.js';
import type { TokenPosition } from '../vault/index.js';
import { isMissing, OWNER_ONLY_FILE, syncFolder } from './durable-files.js';
import type { SegmentRecord } from './manifest.js';

export const PROGRESS_NAME = 'progress';

/** What an export set out to do. */
export interface ExportHead {
  readonly exportId: string;
  readonly startedAtMs: number;
  /** The name of the lock: an export that goes on must go on with the same one. */
  readonly lock: string;
}

export interface ExportStep extends SegmentRecord {
  readonly next: TokenPosition;
  /** Ids of tokens that could not be opened. */
  readonly damaged: readonly string[];
}

export interface TransferProgress {
  readonly head: ExportHead;
  readonly steps: readonly ExportStep[];
}

/**
 * The book an unfinished export keeps: its head, then a line for each segment that is safe on disk. Whoever exports to a
 * public key cannot read its own segments, so the place to go on from must stand elsewhere. Each line is sealed under
 * the tenant's own keys and numbered: nobody can make an export skip tokens by editing it.
 */
export async function readProgress(folder: string, keys: TenantKeys): Promise<TransferProgress | undefined> {
  const text = await readFile(join(folder, PROGRESS_NAME), 'latin1').catch((error: unknown) => {
    if (isMissing(error)) return '';
    throw error;
  });
  // A line without its end was being written when the process died, and does not count.
  const [first, ...others] = text.split('\n').slice(0, -1);
  const [exportId = ''] = first?.split(' ') ?? [];
  if (first === undefined || !isUuid(exportId)) return undefined;
  // Authenticated: this product wrote them.
  const head = openLine(keys, exportId, 1, first) as ExportHead;
  const steps = others.map((line, n) => openLine(keys, exportId, n + 2, line) as ExportStep);
  return { head, steps };
}

export interface ProgressBook {
  add(step: ExportStep): Promise<void>;
  close(): Promise<void>;
}

/** Opens the book after what it holds already; an end that was torn off in the middle goes. */
export async function openProgress(
  folder: string,
  keys: TenantKeys,
  { head, steps }: TransferProgress,
  isNew: boolean,
): Promise<ProgressBook> {
  const path = join(folder, PROGRESS_NAME);
  const handle: FileHandle = await open(path, constants.O_RDWR | constants.O_CREAT, OWNER_ONLY_FILE);
  let line = isNew ? 0 : steps.length + 1;
  let end = isNew ? 0 : lengthOfLines(await readFile(path, 'latin1'));
  await handle.truncate(end);

  async function append(value: object): Promise<void> {
    line += 1;
    const bytes = Buffer.from(`${head.exportId} ${sealLine(keys, head.exportId, line, value)}\n`);
    await handle.write(bytes, 0, bytes.length, end);
    await handle.sync();
    end += bytes.length;
  }

  if (isNew) await append(head);
  await syncFolder(folder);
  return { add: append, close: () => handle.close() };
}

function lengthOfLines(text: string): number {
  return text.lastIndexOf('\n') + 1;
}

function contextOf(keys: TenantKeys, exportId: string, line: number) {
  return { tenantId: keys.tenantId, kind: 'token-export', entityId: exportId, field: 'progress', dataVersion: line };
}

function sealLine(keys: TenantKeys, exportId: string, line: number, value: object): string {
  const sealed = withWiped(Buffer.from(JSON.stringify(value)), (plaintext) =>
    sealField(keys, contextOf(keys, exportId, line), plaintext),
  );
  return sealed.toString('base64');
}

function openLine(keys: TenantKeys, exportId: string, line: number, text: string): unknown {
  const [, sealed = ''] = text.split(' ');
  const opened = openField(keys, contextOf(keys, exportId, line), Buffer.from(sealed, 'base64'));
  return withWiped(opened, (plaintext) => JSON.parse(plaintext.toString('utf8')));
}
