import { isDeepStrictEqual } from 'node:util';
import { operatorAct } from '../audit/entry.js';
import type { KeyStore } from '../crypto/key-store.js';
import type { StreamUnlock } from '../crypto/sealed-stream-keys.js';
import { createBudget } from '../expressions/budget.js';
import type { Expressions } from '../expressions/expressions.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import type { Database } from '../storage/database.js';
import type { TenantTx } from '../storage/scope.js';
import { setModified } from '../vault/carry/queries.js';
import { letIn } from '../vault/make/combination-queries.js';
import { combinationOf } from '../vault/make/combinations.js';
import type { ImportedToken } from '../vault/make/imported.js';
import { prepareImported } from '../vault/make/imported.js';
import type { Preparation, TokenSettings } from '../vault/make/prepare.js';
import { storeTokens } from '../vault/make/store.js';
import type { Opener, OpenRow } from '../vault/open/open.js';
import { createOpener } from '../vault/open/open.js';
import { FIND_TOKENS, findWholeTokens } from '../vault/queries.js';
import { hasCvc, withoutCvc } from '../vault/types/cvc.js';
import type { ImportBatch } from './import-batches.js';
import { importBatches } from './import-batches.js';
import { openExport } from './import-source.js';

export interface ImportOptions {
  readonly database: Database;
  readonly keyring: KeyStore['keyring'];
  readonly expressions: Expressions;
  readonly clock: Clock;
  readonly tenantId: string;
  readonly settings: TokenSettings;
  readonly folder: string;
  readonly unlock: StreamUnlock;
  /** What to do about another token that has the id: stop before anything is written, or leave it as it is. */
  readonly onConflict: 'fail' | 'skip';
  readonly isDeduplicating: boolean;
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

interface Counts {
  created: number;
  present: number;
  conflicts: number;
  matched: number;
  incomplete: number;
}

const CONFLICTS_SHOWN_MAX = 10;
const REFUSED_SHOWN_MAX = 20;
const RACES_MAX = 3;

/** Brings the tokens of an export into a tenant, under its own keys. Running it again does only what is left to do. */
export async function importTokens(options: ImportOptions): Promise<ImportOutcome> {
  const { database, keyring, clock, shouldStop } = options;
  const source = await openExport(options.folder, options.unlock);
  const opener = createOpener({ database, keyring, onIntegrityFault: () => {} });
  const batches = () => importBatches(source.lines(), () => clock.nowMs());
  const sum: Counts = { created: 0, present: 0, conflicts: 0, matched: 0, incomplete: 0 };
  const refused: string[] = [];
  const conflictIds: string[] = [];
  let [done, expired, refusedCount] = [0, 0, 0];
  const outcomeOf = (kind: ImportOutcome['kind']): ImportOutcome => {
    return { kind, tokens: source.tokens, ...sum, conflictIds, expired, refused, refusedCount };
  };
  if (options.onConflict === 'fail') {
    const found = await findConflicts(options, opener, batches(), source.tokens);
    sum.conflicts = found.count;
    conflictIds.push(...found.ids);
    if (found.count > 0) return outcomeOf('conflict');
  }
  for await (const batch of batches()) {
    if (shouldStop()) return outcomeOf('interrupted');
    const counts = await writeBatch(options, opener, batch);
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
  opener: Opener,
  batches: AsyncGenerator<ImportBatch>,
  total: number,
): Promise<{ readonly count: number; readonly ids: readonly string[] }> {
  const ids: string[] = [];
  let [count, done] = [0, 0];
  for await (const batch of batches) {
    if (options.shouldStop()) break;
    const tokens = await prepareBatch(options, opener, batch);
    const { conflicting } = await options.database.read(options.tenantId, (tx) => sortOut(tx, opener, tokens));
    count += conflicting.length;
    ids.push(...conflicting.map(({ row }) => row.id).slice(0, CONFLICTS_SHOWN_MAX - ids.length));
    done += batch.lines;
    options.onProgress(done, total, 'check');
  }
  return { count, ids };
}

/** One transaction. A create that comes in between with the same id undoes it, and it is sorted out again. */
async function writeBatch(options: ImportOptions, opener: Opener, batch: ImportBatch): Promise<Counts> {
  for (let attempt = 1; ; attempt += 1) {
    // Nobody tells a command that keys were rotated, and an import may run for hours: what it seals must stay readable.
    options.keyring.evict(options.tenantId);
    try {
      return await tryBatch(options, opener, batch);
    } catch (error) {
      const isRace = error instanceof AppError && error.code === 'token_id_conflict';
      if (!isRace || attempt === RACES_MAX) throw error;
    }
  }
}

async function tryBatch(options: ImportOptions, opener: Opener, batch: ImportBatch): Promise<Counts> {
  const { database, tenantId, onConflict } = options;
  const tokens = await prepareBatch(options, opener, batch);
  const preparation = await preparationOf(options, opener);
  return database.write(tenantId, async (tx) => {
    const { fresh, present, conflicting } = await sortOut(tx, opener, tokens);
    if (onConflict === 'fail' && conflicting.length > 0) throw madeMeanwhile();
    // Bound by nothing: what was there must be there again. It is counted all the same.
    if (fresh.length > 0) await letIn(tx, fresh.map(combinationOf), false);
    const stored = await storeTokens(tx, opener, preparation, fresh);
    const made = fresh.filter((_, n) => stored[n]?.kind === 'made');
    await setModified(
      tx,
      made.map(({ row }) => row),
    );
    return {
      created: made.length,
      present: present.length,
      conflicts: conflicting.length,
      matched: fresh.length - made.length,
      incomplete: made.filter(({ isWhole }) => !isWhole).length,
    };
  });
}

async function prepareBatch(options: ImportOptions, opener: Opener, batch: ImportBatch): Promise<ImportedToken[]> {
  const preparation = await preparationOf(options, opener);
  return batch.tokens.map(({ id, input, origin }) => {
    // A budget is for one request, and a token is one.
    const own = { ...preparation, budget: createBudget() };
    return prepareImported(own, id, input, origin, options.isDeduplicating);
  });
}

async function preparationOf(options: ImportOptions, opener: Opener): Promise<Preparation> {
  const { tenantId, settings, expressions, clock } = options;
  const keys = await opener.keysOf(tenantId);
  return {
    tenantId,
    act: operatorAct(clock.nowMs()),
    keys,
    settings,
    expressions,
    fingerprints: 'revealed',
    // The operator decides whether an import deduplicates.
    isStranger: false,
    mayCompare: () => true,
    budget: createBudget(),
  };
}

interface Sorted {
  readonly fresh: ImportedToken[];
  readonly present: ImportedToken[];
  readonly conflicting: ImportedToken[];
}

async function sortOut(tx: TenantTx, opener: Opener, tokens: readonly ImportedToken[]): Promise<Sorted> {
  const sorted: Sorted = { fresh: [], present: [], conflicting: [] };
  if (tokens.length === 0) return sorted;
  const places = tokens.map(({ row }) => ({ tenantId: tx.tenantId, id: row.id }));
  const found = await tx.gather(FIND_TOKENS, places);
  const rows = places.map((place) => found.get(place)).filter((row) => row !== undefined);
  const isTaken = new Set(rows.map(({ id }) => id));
  const whole = await findWholeTokens(tx, [...isTaken]);
  const there = new Map((await opener.openIntact(tx.tenantId, whole)).map((token) => [token.row.id, token]));
  for (const token of tokens) {
    const same = there.get(token.row.id);
    if (!isTaken.has(token.row.id)) sorted.fresh.push(token);
    else if (same && isSame(same, token)) sorted.present.push(token);
    else sorted.conflicting.push(token);
  }
  return sorted;
}

/** The token that is there is the one that would be imported. A verification code makes no difference: it never travels. */
function isSame(there: OpenRow, token: ImportedToken): boolean {
  const { content } = there;
  const data = hasCvc(content.type, content.data) ? withoutCvc(content.data) : content.data;
  return (
    there.row.created_at.getTime() === token.row.created_at.getTime() &&
    // What is stored went through JSON once, which drops members that are not set.
    isDeepStrictEqual(plain({ ...content, data }), plain(token.content))
  );
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** The first look found none, so it came since. */
function madeMeanwhile(): ExitError {
  return new ExitError(
    EXIT.usage,
    'A token with the id of one in the export was made while the import ran. Run it again to see which.',
  );
}
