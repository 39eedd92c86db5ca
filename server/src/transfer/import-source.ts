import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { IntegrityError } from '../crypto/integrity-error.js';
import type { StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { errorCodeOf, isMissing } from './durable-files.js';
import type { ExportManifest } from './manifest.js';
import { EXPORT_MANIFEST_NAME, readManifest } from './manifest.js';
import { PROGRESS_NAME } from './progress.js';
import { digestOf, sealedLines, segmentContext, segmentName } from './segment.js';

/** A line of an export, and where it stands for whoever has to look. */
export interface ExportedLine {
  readonly text: string;
  readonly segment: number;
  readonly line: number;
}

export interface ImportSource {
  readonly manifest: ExportManifest;
  readonly tokens: number;
  lines(): AsyncGenerator<ExportedLine>;
}

/** Opens the manifest and compares every segment with it, before a single token is read. */
export async function openExport(folder: string, unlock: StreamUnlock): Promise<ImportSource> {
  await refuseUnfinished(folder);
  const manifest = await explained(() => readManifest(folder, unlock));
  for (const { number, bytes, sha256 } of manifest.segments) {
    const name = segmentName(number);
    const found = await digestOf(join(folder, name)).catch((error: unknown) => {
      throw refused(
        `${name} cannot be read (${errorCodeOf(error)}). The export is only whole with all of its segments.`,
      );
    });
    if (found.bytes !== bytes || found.sha256 !== sha256) {
      throw refused(
        `${name} is not the file the export wrote: it was changed, cut off or swapped. Nothing was imported.`,
      );
    }
  }
  return {
    manifest,
    tokens: manifest.segments.reduce((sum, { tokens }) => sum + tokens, 0),
    async *lines() {
      for (const segment of manifest.segments) {
        const found = linesOf(folder, unlock, manifest.exportId, segment.number, segment.tokens);
        for (;;) {
          const { done, value } = await explained(() => found.next());
          if (done) break;
          yield value;
        }
      }
    },
  };
}

async function* linesOf(
  folder: string,
  unlock: StreamUnlock,
  exportId: string,
  segment: number,
  tokens: number,
): AsyncGenerator<ExportedLine, void> {
  let line = 0;
  for await (const text of sealedLines(join(folder, segmentName(segment)), unlock, segmentContext(segment))) {
    line += 1;
    if (line > 1) yield { text, segment, line };
    else if (text !== JSON.stringify({ export_id: exportId, segment })) {
      throw new IntegrityError('A segment belongs to another export.');
    }
  }
  if (line !== tokens + 1) throw new IntegrityError('A segment holds another number of tokens than its manifest says.');
}

async function refuseUnfinished(folder: string): Promise<void> {
  const isThere = (name: string) =>
    stat(join(folder, name)).then(
      () => true,
      (error: unknown) => !isMissing(error),
    );
  if (await isThere(EXPORT_MANIFEST_NAME)) return;
  const isUnfinished = await isThere(PROGRESS_NAME);
  throw refused(
    isUnfinished
      ? 'The export is not finished. Run tokens export again with --resume, then import.'
      : `There is no ${EXPORT_MANIFEST_NAME} in ${folder}. Name the folder that tokens export wrote.`,
  );
}

/** What does not open is the operator's to mend: another passphrase, another identity, another copy of the files. */
async function explained<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof IntegrityError)) throw error;
    throw new ExitError(
      EXIT.usage,
      `${error.message} Check passphrase or identity, and that the files are the ones the export wrote.`,
      error,
    );
  }
}

function refused(message: string): ExitError {
  return new ExitError(EXIT.usage, message);
}
