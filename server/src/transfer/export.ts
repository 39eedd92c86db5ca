import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { StreamLock } from '../crypto/sealed-stream-keys.js';
import { formatDate } from '../kernel/dates.js';
import { newId } from '../kernel/ids.js';
import type { CarriedBatch, TakeOut, TakeOutOptions } from '../vault/carry/index.js';
import { createTakeOut } from '../vault/carry/index.js';
import type { TokenPosition } from '../vault/index.js';
import { fileFault, syncFolder } from './durable-files.js';
import { findExport, refuseOtherLock, tidyUp } from './export-folder.js';
import { writeExportManifest } from './manifest.js';
import type { ExportStep, ProgressBook, TransferProgress } from './progress.js';
import { openProgress, PROGRESS_NAME } from './progress.js';
import type { SealedFileWriter } from './segment.js';
import { createSealedFile, segmentContext, segmentName } from './segment.js';
import { tokenLine } from './token-line.js';

export interface ExportOptions extends TakeOutOptions {
  readonly folder: string;
  readonly isResuming: boolean;
  readonly segmentTokensMax: number;
  /** `like` is the name of the lock an unfinished export was begun with. */
  readonly lockLike: (like: string | undefined) => Promise<StreamLock>;
  readonly shouldStop: () => boolean;
  readonly onProgress: (done: number, total: number) => void;
}

export interface ExportOutcome {
  readonly kind: 'complete' | 'interrupted' | 'was-complete';
  /** Of the whole export, with what earlier runs did. */
  readonly tokens: number;
  readonly segments: number;
  /** In this run, each with its entry in the log. */
  readonly tokensNow: number;
  readonly damaged: readonly string[];
}

const SEGMENT_BYTES = 64 * 1_048_576;
const BEFORE_ALL: TokenPosition = { createdAtMs: -62_135_596_800_000, tie: '00000000-0000-0000-0000-000000000000' };

/**
 * Writes all live tokens of a tenant into a folder of sealed segments, oldest first. Every token has its entry in the
 * tenant's log before it goes into a file. Segments that are finished stay; a run that died goes on after the last one.
 */
export async function exportTokens(options: ExportOptions): Promise<ExportOutcome> {
  const { keyring, tenantId, folder, isResuming } = options;
  const keys = await keyring.forTenant(tenantId);
  const found = await findExport(folder, keys, isResuming);
  if (found.kind === 'complete') return { kind: 'was-complete', tokens: 0, segments: 0, tokensNow: 0, damaged: [] };
  const earlier = found.kind === 'unfinished' ? found.progress : undefined;
  const lock = await options.lockLike(earlier?.head.lock);
  if (earlier) {
    refuseOtherLock(earlier, lock);
    await tidyUp(folder, earlier);
  }
  const progress = earlier ?? newProgress(options, lock);
  try {
    const book = await openProgress(folder, keys, progress, earlier === undefined);
    try {
      return await writeSegments(options, lock, progress, book);
    } finally {
      await book.close();
    }
  } catch (error) {
    throw fileFault(folder, error);
  }
}

function newProgress({ clock }: ExportOptions, lock: StreamLock): TransferProgress {
  return { head: { exportId: newId(), startedAtMs: clock.nowMs(), lock: lock.name }, steps: [] };
}

async function writeSegments(
  options: ExportOptions,
  lock: StreamLock,
  { head, steps: earlier }: TransferProgress,
  book: ProgressBook,
): Promise<ExportOutcome> {
  const { tenantId, folder, clock } = options;
  const steps: ExportStep[] = [...earlier];
  const sumOf = (some: readonly ExportStep[]) => some.reduce((sum, { tokens }) => sum + tokens, 0);
  const takeOut = createTakeOut(options);
  const live = await takeOut.count();
  const before = sumOf(earlier);
  const source = createSource(takeOut, head.startedAtMs, earlier.at(-1)?.next ?? BEFORE_ALL);

  const outcomeOf = (kind: ExportOutcome['kind']): ExportOutcome => ({
    kind,
    tokens: sumOf(steps),
    segments: steps.length,
    tokensNow: sumOf(steps) - before,
    damaged: steps.flatMap(({ damaged }) => damaged),
  });

  for (let isEnd = false; !isEnd; ) {
    if (options.shouldStop()) return outcomeOf('interrupted');
    const number = steps.length + 1;
    const done = sumOf(steps);
    const onProgress = (tokens: number) => options.onProgress(done + tokens, Math.max(live, done + tokens));
    const first = await source.next(options.segmentTokensMax);
    if (first === undefined) break;
    const file = await createSealedFile(join(folder, segmentName(number)), lock, segmentContext(number));
    let filled: Filled;
    let step: ExportStep;
    try {
      await file.write(Buffer.from(`${JSON.stringify({ export_id: head.exportId, segment: number })}\n`));
      filled = await fillSegment(options, source, file, first, onProgress);
      step = { number, ...filled.step, ...(await file.finish()) };
    } catch (error) {
      // The half-written file stays without its name until the next run takes it away.
      await file.abandon();
      throw error;
    }
    await book.add(step);
    steps.push(step);
    if (filled.failure !== undefined) throw filled.failure;
    isEnd = filled.isEnd;
  }
  const times = { startedAt: formatDate(head.startedAtMs), finishedAt: formatDate(clock.nowMs()) };
  await writeExportManifest(folder, lock, { exportId: head.exportId, tenantId, ...times, segments: steps });
  await rm(join(folder, PROGRESS_NAME));
  await syncFolder(folder);
  return outcomeOf('complete');
}

interface Filled {
  readonly step: Pick<ExportStep, 'tokens' | 'next' | 'damaged'>;
  readonly isEnd: boolean;
  /** Why no more could be read. What was written before counts all the same, since it is in the log. */
  readonly failure?: unknown;
}

/** Fills one segment batch by batch until it is full, or there is no more, or the operator wants to stop. */
async function fillSegment(
  { segmentTokensMax, shouldStop }: ExportOptions,
  source: Source,
  file: SealedFileWriter,
  first: CarriedBatch,
  onProgress: (tokens: number) => void,
): Promise<Filled> {
  let [tokens, bytes] = [0, 0];
  const damaged: string[] = [];
  let batch: CarriedBatch | undefined = first;
  let last = first;
  for (;;) {
    for (const token of batch.tokens) {
      const line = tokenLine(token);
      await file.write(line);
      bytes += line.length;
    }
    tokens += batch.tokens.length;
    damaged.push(...batch.damaged);
    last = batch;
    onProgress(tokens);
    const step = { tokens, damaged, next: last.next };
    if (tokens >= segmentTokensMax || bytes >= SEGMENT_BYTES || shouldStop()) return { step, isEnd: false };
    try {
      batch = await source.next(segmentTokensMax - tokens);
    } catch (failure) {
      return { step, isEnd: false, failure };
    }
    if (batch === undefined) return { step, isEnd: true };
  }
}

interface Source {
  /** The next tokens, all of them in the log already; undefined when there are no more. */
  next(limit: number): Promise<CarriedBatch | undefined>;
}

function createSource(takeOut: TakeOut, untilMs: number, from: TokenPosition): Source {
  let after = from;
  return {
    async next(limit) {
      const batch = await takeOut.next(after, untilMs, limit);
      if (batch) after = batch.next;
      return batch;
    },
  };
}
