import type { AuditContext } from '../../audit/entry.js';
import { operatorContext } from '../../audit/entry.js';
import { recordAll } from '../../audit/record.js';
import { assert } from '../../kernel/assert.js';
import { newId } from '../../kernel/ids.js';
import { Overtaken } from '../../storage/faults.js';
import type { TenantTx } from '../../storage/scope.js';
import { Unwritten } from '../../storage/unwritten.js';
import { placed, removeTokens } from '../change/change.js';
import { countUsage } from '../count/count-usage.js';
import { TOKEN_EVENTS } from '../events.js';
import { lockExpiredTokens } from '../expiry/due-queries.js';
import type { Opener } from '../open/open.js';
import { FIND_TOKENS, insertTerms, insertTokens, LOCK_TOKENS } from '../queries.js';
import type { BareRow, FoundRow, TokenRow } from '../stored/row.js';
import { moveClaim } from './claim-queries.js';
import { claimOf, holderOf } from './claims.js';
import { ownId, settleId } from './new-id.js';
import type { Preparation, PreparedToken } from './prepare.js';
import { renamed } from './prepare.js';
import { idTaken, isIdChosen } from './taken-ids.js';

/** What became of a token that was to be made. */
export type Stored =
  | { readonly kind: 'made'; readonly token: PreparedToken }
  /** Deduplication: this one was there already, and nothing was written. */
  | { readonly kind: 'matched'; readonly row: FoundRow };

/** So often is an alias made up anew when it is taken; then the token gets an id that cannot be. */
const ALIAS_ATTEMPTS_MAX = 3;

/**
 * Writes tokens with their terms, log entries and counters. Tokens whose id we made up ourselves cannot collide, so all of
 * it travels in one round trip; otherwise the ids are settled first. A taken id throws, which undoes the whole change unless
 * nothing was written yet.
 */
export async function storeTokens(
  tx: TenantTx,
  opener: Opener,
  preparation: Preparation,
  tokens: readonly PreparedToken[],
): Promise<Stored[]> {
  const asked = tokens.map((token) => ({ token, ticket: token.isIdOurs ? token.row.id : newId() }));
  const open = (id: string) => opener.lock(tx, id, preparation.auditContext.atMs);
  const holders = await Promise.all(
    asked.map(({ token, ticket }) => {
      // Without deduplication it stands for itself, and nobody is asked.
      const claim = token.isDeduplicated ? claimOf(token, ticket, preparation.auditContext.atMs) : undefined;
      return claim ? holderOf(tx, token, claim, open) : ticket;
    }),
  );
  const fresh = asked.filter(({ ticket }, n) => holders[n] === ticket);
  const others = holders.filter((holder, n) => holder !== asked[n]?.ticket);
  const isClaiming = tokens.some(({ isDeduplicated }) => isDeduplicated);
  const [made, found] = await Promise.all([
    storeAsked(tx, preparation, fresh, isClaiming),
    findRows(tx, others, preparation.auditContext),
  ]);
  return asked.map(({ token, ticket }, n) => {
    const holder = holders[n] ?? ticket;
    // A holder may be one of this very request, which is known by its ticket.
    const own = made.get(holder);
    if (own && holder === ticket) return { kind: 'made', token: own };
    return { kind: 'matched', row: standingFor(token, own?.row ?? found.get(holder)) };
  });
}

/** The row that has the token's fingerprint. It may be gone by now, or not be there yet: then all of this goes again. */
function standingFor({ row }: PreparedToken, match: FoundRow | undefined): FoundRow {
  if (match && isAlike(match, row)) return match;
  throw new Overtaken('the token that stood for a fingerprint does so no longer');
}

function isAlike(a: BareRow, b: BareRow): boolean {
  return (
    a.group_id === b.group_id && a.fingerprint !== null && b.fingerprint !== null && a.fingerprint.equals(b.fingerprint)
  );
}

/**
 * A token that was asked for, and the name under which it claims its fingerprint. A name of its own unless we made the id
 * up: an id that was wished for may be taken, or be wished for by others at the same time.
 */
interface Asked {
  readonly token: PreparedToken;
  readonly ticket: string;
}

/** Returns what was made by ticket. */
async function storeAsked(
  tx: TenantTx,
  preparation: Preparation,
  asked: readonly Asked[],
  isClaiming: boolean,
): Promise<Map<string, PreparedToken>> {
  const { auditContext } = preparation;
  const made = new Map<string, PreparedToken>();
  if (asked.length === 0) return made;
  if (asked.every(({ token }) => token.isIdOurs)) {
    const tokens = asked.map(({ token }) => token);
    await Promise.all([insertTokens(tx, rowsOf(tokens)), accompany(tx, auditContext, tokens)]);
    for (const { token, ticket } of asked) made.set(ticket, token);
    return made;
  }
  let open = asked;
  // Whoever deduplicates has claimed fingerprints before.
  let isUntouched = !isClaiming;
  for (let attempt = 1; open.length > 0; attempt += 1) {
    const inserted = new Set(await insertTokens(tx, rowsOf(open.map(({ token }) => token))));
    const taken = open.filter(({ token }) => !inserted.has(token.row));
    for (const { token, ticket } of open) if (inserted.has(token.row)) made.set(ticket, token);
    const erased = await eraseExpired(tx, preparation, taken);
    isUntouched &&= made.size === 0 && erased.size === 0;
    const lost = taken.find(({ token }) => isIdChosen(token) && !erased.has(token.row.id));
    if (lost && isUntouched) throw new Unwritten(idTaken(lost.token.idPath));
    if (lost) throw idTaken(lost.token.idPath);
    open = taken.map(({ token, ticket }) => ({
      ticket,
      token: erased.has(token.row.id) ? token : renamed(preparation, token, anotherId(preparation, token, attempt)),
    }));
  }
  await Promise.all([accompany(tx, auditContext, [...made.values()]), ...moveClaims(tx, made)]);
  return made;
}

/** A token whose time is over is gone to everybody, so it does not stand in the way until it is swept. */
async function eraseExpired(
  tx: TenantTx,
  { auditContext }: Preparation,
  taken: readonly Asked[],
): Promise<Set<string>> {
  if (taken.length === 0) return new Set();
  const ids = taken.map(({ token }) => token.row.id);
  const expired = await lockExpiredTokens(tx, ids, auditContext.atMs);
  if (expired.length > 0)
    await removeTokens(tx, operatorContext(auditContext.atMs), expired.map(placed), TOKEN_EVENTS.expired);
  return new Set(expired.map(({ id }) => id));
}

/** From the ticket to the id the token got. */
function moveClaims(tx: TenantTx, made: ReadonlyMap<string, PreparedToken>): Promise<void>[] {
  return [...made]
    .filter(([ticket, { isDeduplicated, row }]) => isDeduplicated && row.id !== ticket)
    .map(([ticket, { row }]) => moveClaim(tx, row, ticket));
}

function anotherId(preparation: Preparation, token: PreparedToken, attempt: number): string {
  const { idExpression, content } = token;
  assert(idExpression !== undefined, 'only an id that was made up is made up anew');
  return attempt < ALIAS_ATTEMPTS_MAX ? settleId(preparation, idExpression, content, '') : ownId(content);
}

/** What is written beside a token. */
async function accompany(tx: TenantTx, auditContext: AuditContext, tokens: readonly PreparedToken[]): Promise<void> {
  await Promise.all([
    insertTerms(tx, rowsOf(tokens)),
    recordAll(
      tx,
      auditContext,
      tokens.map(({ row, content }) => ({
        event: TOKEN_EVENTS.created,
        entityId: row.id,
        entityType: content.type,
        outcome: 'success',
      })),
    ),
    countUsage(tx, auditContext, {
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

/** Where the answer is kept they stay as they are until it is: who takes one away then finds the answer to erase. */
async function findRows(
  tx: TenantTx,
  ids: readonly string[],
  { keepAnswer }: AuditContext,
): Promise<Map<string, FoundRow>> {
  const rows = new Map<string, FoundRow>();
  if (ids.length === 0) return rows;
  const keys = ids.map((id) => ({ tenantId: tx.tenantId, id }));
  const found = await tx.gather(keepAnswer ? LOCK_TOKENS : FIND_TOKENS, keys);
  for (const key of keys) {
    const row = found.get(key);
    if (row) rows.set(key.id, row);
  }
  return rows;
}

function rowsOf(tokens: readonly PreparedToken[]): TokenRow[] {
  return tokens.map(({ row }) => row);
}
