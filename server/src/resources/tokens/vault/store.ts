import type { Act } from '../../../audit/entry.js';
import { recordAll } from '../../../audit/record.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import type { TenantTx } from '../../../storage/scope.js';
import { countUsage } from '../../reports/index.js';
import { claimFingerprint, FIND_TOKENS, insertTerms, insertTokens } from '../queries.js';
import type { TokenRow } from '../stored/row.js';
import type { Preparation, PreparedToken } from './prepare.js';
import { evaluateId, renamed } from './prepare.js';

/** What became of a token that was to be made. */
export type Stored =
  | { readonly kind: 'made'; readonly token: PreparedToken }
  /** Deduplication: this one was there already, and nothing was written. */
  | { readonly kind: 'matched'; readonly row: TokenRow };

/** So often is an alias made up anew when it is taken; then the token gets an id that cannot be. */
const ALIAS_ATTEMPTS_MAX = 3;

/**
 * Writes tokens with their terms, log entries and counters. Tokens whose id we made up ourselves cannot collide, so all of
 * it travels in one flight; otherwise the ids are settled first. A taken id throws, which undoes the whole change.
 */
export async function storeTokens(
  tx: TenantTx,
  preparation: Preparation,
  tokens: readonly PreparedToken[],
): Promise<Stored[]> {
  const { act } = preparation;
  const holders = await Promise.all(tokens.map((token) => holderOf(tx, act, token)));
  const fresh = tokens.filter((token, n) => holders[n] === token.row.id);
  const [made, matched] = await Promise.all([
    makeTokens(tx, preparation, fresh),
    findMatches(
      tx,
      holders.filter((holder, n) => holder !== tokens[n]?.row.id),
    ),
  ]);
  return tokens.map((token, n) => {
    const holder = holders[n] ?? token.row.id;
    if (holder !== token.row.id) return { kind: 'matched', row: present(matched.get(holder)) };
    return { kind: 'made', token: present(made.get(token)) };
  });
}

/** The token that will stand for this one. Without deduplication that is itself, and nobody is asked. */
async function holderOf(tx: TenantTx, act: Act, { row, isDeduplicated }: PreparedToken): Promise<string> {
  if (!isDeduplicated || row.fingerprint === null) return row.id;
  const { type, fingerprint, id } = row;
  return claimFingerprint(tx, { tenantId: tx.tenantId, type, fingerprint, tokenId: id, atMs: act.atMs });
}

async function makeTokens(
  tx: TenantTx,
  preparation: Preparation,
  tokens: readonly PreparedToken[],
): Promise<Map<PreparedToken, PreparedToken>> {
  const { act } = preparation;
  const settled = new Map<PreparedToken, PreparedToken>();
  if (tokens.length === 0) return settled;
  if (tokens.every(({ isIdOurs }) => isIdOurs)) {
    await Promise.all([insertTokens(tx, rowsOf(tokens)), accompany(tx, act, tokens)]);
    for (const token of tokens) settled.set(token, token);
    return settled;
  }
  let open: [PreparedToken, PreparedToken][] = tokens.map((token) => [token, token]);
  for (let attempt = 1; open.length > 0; attempt += 1) {
    const inserted = new Set(
      await insertTokens(
        tx,
        open.map(([, token]) => token.row),
      ),
    );
    const taken: [PreparedToken, PreparedToken][] = [];
    for (const [asked, token] of open) {
      if (inserted.has(token.row)) settled.set(asked, token);
      else taken.push([asked, renamed(preparation, token, anotherId(preparation, token, attempt))]);
    }
    open = taken;
  }
  await accompany(tx, act, [...settled.values()]);
  return settled;
}

function anotherId(preparation: Preparation, { idExpression, content }: PreparedToken, attempt: number): string {
  if (idExpression === undefined) throw idTaken();
  return attempt < ALIAS_ATTEMPTS_MAX ? evaluateId(preparation, idExpression, content.data, '') : newId();
}

/** What is written beside a token. */
async function accompany(tx: TenantTx, act: Act, tokens: readonly PreparedToken[]): Promise<void> {
  await Promise.all([
    insertTerms(tx, rowsOf(tokens)),
    recordAll(
      tx,
      act,
      tokens.map(({ row, content }) => ({
        event: 'token_created',
        entityId: row.id,
        entityType: content.type,
        outcome: 'success',
      })),
    ),
    countUsage(tx, act, {
      differences: tokens.map(({ row, content }) => ({
        groupId: row.group_id,
        type: content.type,
        containers: content.containers,
        difference: 1,
      })),
      active: tokens.map(({ row }) => ({ id: row.id, createdAtMs: row.created_at.getTime(), isNew: true })),
    }),
  ]);
}

async function findMatches(tx: TenantTx, ids: readonly string[]): Promise<Map<string, TokenRow>> {
  const matches = new Map<string, TokenRow>();
  if (ids.length === 0) return matches;
  const keys = ids.map((id) => ({ tenantId: tx.tenantId, id }));
  const found = await tx.gather(FIND_TOKENS, keys);
  for (const key of keys) matches.set(key.id, present(found.get(key)));
  return matches;
}

function rowsOf(tokens: readonly PreparedToken[]): TokenRow[] {
  return tokens.map(({ row }) => row);
}

function idTaken(): AppError {
  return new AppError('token_id_conflict', 'A token with this id exists already. Choose another id, or leave it out.', {
    errors: { id: ['is taken'] },
  });
}

function present<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('assertion failed: what was just written or claimed is there');
  return value;
}
