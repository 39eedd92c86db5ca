import type { StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { BringCounts, BringIn, BringInOptions } from '../vault/carry/index.js';
import { createBringIn } from '../vault/carry/index.js';
import type { ImportBatch } from './import-batches.js';
import { importBatches } from './import-batches.js';
import { openExport } from './import-source.js';

export interface ImportOptions extends BringInOptions {
  readonly folder: string;
  readonly unlock: StreamUnlock;
  /** What to do about another token that has the id: stop before anything is written, or leave it as it is. */
  readonly onConflict: 'fail' | 'skip';
  readonly shouldStop: () => boolean;
  readonly onProgress: (done: number, total: number, phase: 'check' | 'write') => void;
}

export interface ImportOutcome {
  /** A conflict was found before anything was written. */
  readonly kind: 'complete' | 'interrupted' | 'conflict';
  /** In the export. */
  readonly tokens: number;
  readonly created: number;
  /** Were there already, just so: an earlier run brought them. */
  readonly present: number;
  readonly conflicts: number;
  /** Some of the ids that another token has. */
  readonly conflictIds: readonly string[];
  /** Deduplicated: another token stands for them. */
  readonly matched: number;
  readonly expired: number;
  /** Could not be taken; said by place and field. */
  readonly refused: readonly string[];
  readonly refusedCount: number;
  /** Created, but without an index or fingerprint that gave nothing here. */
  readonly incomplete: number;
}

const CONFLICTS_SHOWN_MAX = 10;
const REFUSED_SHOWN_MAX = 20;
const RACES_MAX = 3;

/** Brings the tokens of an export into a tenant, under its own keys. Running it again does only what is left to do. */
export async function importTokens(options: ImportOptions): Promise<ImportOutcome> {
  const { clock, shouldStop } = options;
  const source = await openExport(options.folder, options.unlock);
  const bringIn = createBringIn(options);
  const batches = () => importBatches(source.lines(), () => clock.nowMs());
  const sum = { created: 0, present: 0, conflicts: 0, matched: 0, incomplete: 0 };
  const refused: string[] = [];
  const conflictIds: string[] = [];
  let [done, expired, refusedCount] = [0, 0, 0];
  const outcomeOf = (kind: ImportOutcome['kind']): ImportOutcome => {
    return { kind, tokens: source.tokens, ...sum, conflictIds, expired, refused, refusedCount };
  };
  if (options.onConflict === 'fail') {
    const found = await findConflicts(options, bringIn, batches(), source.tokens);
    sum.conflicts = found.count;
    conflictIds.push(...found.ids);
    if (found.count > 0) return outcomeOf('conflict');
  }
  for await (const batch of batches()) {
    if (shouldStop()) return outcomeOf('interrupted');
    const counts = await writeBatch(options, bringIn, batch);
    for (const name of ['created', 'present', 'conflicts', 'matched', 'incomplete'] as const) sum[name] += counts[name];
    expired += batch.expired;
    refusedCount += batch.refused.length;
    refused.push(...batch.refused.slice(0, REFUSED_SHOWN_MAX - refused.length));
    done += batch.lines;
    options.onProgress(done, source.tokens, 'write');
  }
  return outcomeOf('complete');
}

/** Looks at everything first, so that a conflict is told while nothing was written yet. */
async function findConflicts(
  options: ImportOptions,
  bringIn: BringIn,
  batches: AsyncGenerator<ImportBatch>,
  total: number,
): Promise<{ readonly count: number; readonly ids: readonly string[] }> {
  const ids: string[] = [];
  let [count, done] = [0, 0];
  for await (const batch of batches) {
    if (options.shouldStop()) break;
    const conflicts = await bringIn.conflictsOf(batch.tokens);
    count += conflicts.length;
    ids.push(...conflicts.slice(0, CONFLICTS_SHOWN_MAX - ids.length));
    done += batch.lines;
    options.onProgress(done, total, 'check');
  }
  return { count, ids };
}

/** One transaction. A create that comes in between with the same id undoes it, and it is sorted out again. */
async function writeBatch(options: ImportOptions, bringIn: BringIn, batch: ImportBatch): Promise<BringCounts> {
  const refuseConflicts = options.onConflict === 'fail' ? madeMeanwhile : undefined;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await bringIn.bring(batch.tokens, refuseConflicts);
    } catch (error) {
      const isRace = error instanceof AppError && error.code === 'token_id_conflict';
      if (!isRace || attempt === RACES_MAX) throw error;
    }
  }
}

/** The first look found none, so it came since. */
function madeMeanwhile(): ExitError {
  return new ExitError(
    EXIT.usage,
    'A token with the id of one in the export was made while the import ran. Run it again to see which.',
  );
}
