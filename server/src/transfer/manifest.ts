import { join } from 'node:path';
import { IntegrityError } from '../crypto/integrity-error.js';
import type { StreamLock, StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { isUuid } from '../kernel/ids.js';
import type { FinishedFile } from './segment.js';
import { createSealedFile, sealedLines } from './segment.js';

export const EXPORT_MANIFEST_NAME = 'manifest.sealed';
const CONTEXT = ['token-export-manifest'];
const FORMAT = 'strongroom-token-export';
const VERSION = 1;
const SEGMENTS_MAX = 10_000_000;

export interface SegmentRecord extends FinishedFile {
  readonly number: number;
  readonly tokens: number;
}

/** What belongs to an export, in its order. It is written last: a folder that has one is complete. */
export interface ExportManifest {
  readonly exportId: string;
  readonly tenantId: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly segments: readonly SegmentRecord[];
}

/** One line of head and one a segment, so that it is written and read at any size. */
export async function writeExportManifest(folder: string, lock: StreamLock, manifest: ExportManifest): Promise<void> {
  const file = await createSealedFile(join(folder, EXPORT_MANIFEST_NAME), lock, CONTEXT);
  const { exportId, tenantId, startedAt, finishedAt, segments } = manifest;
  const head = {
    format: FORMAT,
    version: VERSION,
    export_id: exportId,
    tenant_id: tenantId,
    started_at: startedAt,
    finished_at: finishedAt,
    segments: segments.length,
    tokens: segments.reduce((sum, { tokens }) => sum + tokens, 0),
  };
  await file.write(lineOf(head));
  for (const { number, tokens, bytes, sha256 } of segments) {
    await file.write(lineOf({ segment: number, tokens, bytes, sha256 }));
  }
  await file.finish();
}

export async function readManifest(folder: string, unlock: StreamUnlock): Promise<ExportManifest> {
  let head: Record<string, unknown> | undefined;
  const segments: SegmentRecord[] = [];
  for await (const line of sealedLines(join(folder, EXPORT_MANIFEST_NAME), unlock, CONTEXT)) {
    if (head === undefined) head = readHead(line);
    else segments.push(readSegment(line, segments.length + 1));
    if (segments.length > SEGMENTS_MAX) throw damaged();
  }
  if (head === undefined || head.segments !== segments.length) throw damaged();
  const [exportId, tenantId] = [String(head.export_id), String(head.tenant_id)];
  if (!isUuid(exportId)) throw damaged();
  return { exportId, tenantId, startedAt: String(head.started_at), finishedAt: String(head.finished_at), segments };
}

function readHead(line: string): Record<string, unknown> {
  const head = objectOf(line);
  if (head.format !== FORMAT) throw new IntegrityError('The manifest is not that of a token export.');
  if (head.version !== VERSION)
    throw new IntegrityError('The export was written in a format this release cannot read.');
  return head;
}

function readSegment(line: string, expected: number): SegmentRecord {
  const { segment, tokens, bytes, sha256 } = objectOf(line);
  if (segment !== expected || !isCount(tokens) || !isCount(bytes)) throw damaged();
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/.test(sha256)) throw damaged();
  return { number: expected, tokens, bytes, sha256 };
}

function objectOf(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    // Not null and an object: its members may be anything, and each is checked where it is used.
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Said below.
  }
  throw damaged();
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function lineOf(value: object): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}

function damaged(): IntegrityError {
  return new IntegrityError('The manifest is not as an export writes it.');
}
