import type { Act } from '../../../audit/entry.js';
import { recordAll } from '../../../audit/record.js';
import { AppError } from '../../../kernel/errors.js';
import { newId } from '../../../kernel/ids.js';
import { Overtaken } from '../../../storage/faults.js';
import type { TenantTx } from '../../../storage/scope.js';
import { countUsage } from '../../reports/index.js';
import { claimFingerprint, FIND_TOKENS, insertTerms, insertTokens, moveClaim } from '../queries.js';
import type { TokenRow } from '../stored/row.js';
import { isExpired } from './open.js';
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
  const isFresh = ({ row }: PreparedToken, n: number): boolean => holders[n] === row.id;
  const others = holders.filter((holder, n) => holder !== tokens[n]?.row.id);
  const [settled, found] = await Promise.all([
    makeTokens(tx, preparation, tokens.filter(isFresh)),
    findRows(tx, others),
  ]);
  // A holder may be one of this very request, and may have got another id since.
  const own = new Map([...settled].map(([asked, outcome]) => [asked.row.id, rowOf(outcome)]));
  return tokens.map((token, n) => {
    const outcome = settled.get(token);
    if (outcome) return outcome;
    const holder = holders[n] ?? '';
    return { kind: 'matched', row: standingFor(token, own.get(holder), found.get(holder)) };
  });
}

function rowOf(outcome: Stored): TokenRow {
  return outcome.kind === 'made' ? outcome.token.row : outcome.row;
}

/** The row that has the token's fingerprint. It may be gone by now, or under another id: then all of this goes again. */
function standingFor({ row }: PreparedToken, ...candidates: readonly (TokenRow | undefined)[]): TokenRow {
  const match = candidates.find((candidate) => candidate !== undefined && isAlike(candidate, row));
  if (match === undefined) throw new Overtaken('the token that stood for a fingerprint does so no longer');
  return match;
}

function isAlike(a: TokenRow, b: TokenRow): boolean {
  return a.type === b.type && a.fingerprint !== null && b.fingerprint !== null && a.fingerprint.equals(b.fingerprint);
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
): Promise<Map<PreparedToken, Stored>> {
  const { act } = preparation;
  const settled = new Map<PreparedToken, Stored>();
  if (tokens.length === 0) return settled;
  if (tokens.every(({ isIdOurs }) => isIdOurs)) {
    await Promise.all([insertTokens(tx, rowsOf(tokens)), accompany(tx, act, tokens)]);
    for (const token of tokens) settled.set(token, { kind: 'made', token });
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
    const taken = open.filter(([, token]) => !inserted.has(token.row));
    const inTheWay = await findRows(
      tx,
      taken.filter(([, token]) => token.isDeduplicated).map(([, token]) => token.row.id),
    );
    for (const [asked, token] of open) if (inserted.has(token.row)) settled.set(asked, { kind: 'made', token });
    open = [];
    for (const [asked, token] of taken) {
      const row = inTheWay.get(token.row.id);
      // Under this id the same is there already, which is what deduplication asks for.
      if (row && isAlike(row, token.row) && !isExpired(row, act.atMs)) settled.set(asked, { kind: 'matched', row });
      else open.push([asked, renamed(preparation, token, anotherId(preparation, token, attempt))]);
    }
  }
  const made = [...settled.values()].flatMap((outcome) => (outcome.kind === 'made' ? [outcome.token] : []));
  await Promise.all([accompany(tx, act, made), ...moveClaims(tx, settled)]);
  return settled;
}

/** Tokens that claimed their fingerprint under an id that turned out to be taken. */
function moveClaims(tx: TenantTx, settled: ReadonlyMap<PreparedToken, Stored>): Promise<void>[] {
  return [...settled]
    .filter(([asked, outcome]) => asked.isDeduplicated && rowOf(outcome).id !== asked.row.id)
    .map(([asked, outcome]) => moveClaim(tx, asked.row, rowOf(outcome)));
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

async function findRows(tx: TenantTx, ids: readonly string[]): Promise<Map<string, TokenRow>> {
  const rows = new Map<string, TokenRow>();
  if (ids.length === 0) return rows;
  const keys = ids.map((id) => ({ tenantId: tx.tenantId, id }));
  const found = await tx.gather(FIND_TOKENS, keys);
  for (const key of keys) {
    const row = found.get(key);
    if (row) rows.set(key.id, row);
  }
  return rows;
}

function rowsOf(tokens: readonly PreparedToken[]): TokenRow[] {
  return tokens.map(({ row }) => row);
}

function idTaken(): AppError {
  return new AppError('token_id_conflict', 'A token with this id exists already. Choose another id, or leave it out.', {
    errors: { id: ['is taken'] },
  });
}
