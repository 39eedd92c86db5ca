import { isDeepStrictEqual } from 'node:util';
import { operatorContext } from '../../audit/entry.js';
import type { KeyStore } from '../../crypto/key-store.js';
import { createBudget } from '../../expressions/budget.js';
import type { Expressions } from '../../expressions/expressions.js';
import type { Clock } from '../../kernel/clock.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import { insertCombinations } from '../make/combination-queries.js';
import { combinationOf } from '../make/combinations.js';
import type { ImportedToken, Origin } from '../make/imported.js';
import { prepareImported } from '../make/imported.js';
import type { NewToken } from '../make/new-token.js';
import type { Preparation, TokenSettings } from '../make/prepare.js';
import { storeTokens } from '../make/store.js';
import type { Opener } from '../open/open.js';
import { createOpener } from '../open/open.js';
import type { OpenRow } from '../open/open-rows.js';
import { FIND_TOKENS, findWholeTokens } from '../queries.js';
import { setModified } from './queries.js';
import { withoutCode } from './take-out.js';

/** A token from elsewhere, read as strictly as a new one. */
export interface BroughtToken {
  readonly id: string;
  readonly input: NewToken;
  readonly origin: Origin;
}

/** What became of tokens that were brought. */
export interface BringCounts {
  readonly created: number;
  /** Were there already, just so. */
  readonly present: number;
  /** Another token has the id, and stays. */
  readonly conflicts: number;
  /** Deduplicated: another token stands for them. */
  readonly matched: number;
  /** Created, but without an index or fingerprint that gave nothing here. */
  readonly incomplete: number;
}

export interface BringInOptions {
  readonly database: Database;
  readonly keyring: KeyStore['keyring'];
  readonly expressions: Expressions;
  readonly clock: Clock;
  readonly tenantId: string;
  readonly settings: TokenSettings;
  readonly isDeduplicating: boolean;
}

export interface BringIn {
  /** Ids that another token has. Changes nothing. */
  conflictsOf(tokens: readonly BroughtToken[]): Promise<string[]>;
  /**
   * Writes them in one transaction under this tenant's keys, each with its entry "Token created". Throws what
   * `refuseConflicts` throws where one of them is in conflict, and `token_id_conflict` where somebody else makes a token
   * with the same id meanwhile; then nothing was written.
   */
  bring(tokens: readonly BroughtToken[], refuseConflicts?: () => Error): Promise<BringCounts>;
}

/** Brings tokens into a tenant in the operator's name, for whom no access rule holds. */
export function createBringIn(options: BringInOptions): BringIn {
  const { database, keyring, tenantId } = options;
  const opener = createOpener({ database, keyring, onIntegrityFault: () => {} });
  return {
    async conflictsOf(tokens) {
      const prepared = await prepareAll(options, opener, tokens);
      const { conflicting } = await database.read(tenantId, (tx) => sortOut(tx, opener, prepared));
      return conflicting.map(({ row }) => row.id);
    },
    async bring(tokens, refuseConflicts) {
      // Nobody tells a command that keys were rotated, and an import may run for hours: what it seals must stay readable.
      keyring.evict(tenantId);
      const prepared = await prepareAll(options, opener, tokens);
      const preparation = await preparationOf(options, opener);
      return database.write(tenantId, async (tx) => {
        const { fresh, present, conflicting } = await sortOut(tx, opener, prepared);
        if (refuseConflicts && conflicting.length > 0) throw refuseConflicts();
        // Bound by nothing: what was there must be there again. It is counted all the same.
        if (fresh.length > 0) await insertCombinations(tx, fresh.map(combinationOf), false);
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
    },
  };
}

async function prepareAll(
  options: BringInOptions,
  opener: Opener,
  tokens: readonly BroughtToken[],
): Promise<ImportedToken[]> {
  const preparation = await preparationOf(options, opener);
  return tokens.map(({ id, input, origin }) => {
    // A budget is for one request, and a token is one.
    const own = { ...preparation, budget: createBudget() };
    return prepareImported(own, id, input, origin, options.isDeduplicating);
  });
}

async function preparationOf(options: BringInOptions, opener: Opener): Promise<Preparation> {
  const { tenantId, settings, expressions, clock } = options;
  const keys = await opener.keysOf(tenantId);
  return {
    tenantId,
    auditContext: operatorContext(clock.nowMs()),
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
  const keys = tokens.map(({ row }) => ({ tenantId: tx.tenantId, id: row.id }));
  const found = await tx.gather(FIND_TOKENS, keys);
  const rows = keys.map((key) => found.get(key)).filter((row) => row !== undefined);
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
function isSame({ row, content }: OpenRow, token: ImportedToken): boolean {
  return (
    row.created_at.getTime() === token.row.created_at.getTime() &&
    // What is stored went through JSON once, which drops members that are not set.
    isDeepStrictEqual(plain({ ...content, data: withoutCode(content) }), plain(token.content))
  );
}

function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}
