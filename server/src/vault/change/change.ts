import type { AuditContext, Entry, Outcome } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import { recordAll } from '../../audit/record.js';
import { emptyAnswersShowing } from '../../kept-answers/queries.js';
import type { TenantTx } from '../../storage/scope.js';
import type { ActiveToken } from '../count/count-usage.js';
import { countUsage, isUsageNew } from '../count/count-usage.js';
import type { GroupedRow } from '../expiry/due-queries.js';
import { releaseClaim } from '../make/claim-queries.js';
import type { OpenRow } from '../open/open-rows.js';
import { deleteTerms, deleteTokens, insertTerms, updateToken } from '../queries.js';
import type { TokenContent } from '../stored/content.js';
import { claimScopeOf, isMatchedAlike } from '../stored/match.js';
import type { BareRow } from '../stored/row.js';
import { isTokenType } from '../types/names.js';

/** A token as far as counters and log know it. */
export interface PlacedToken {
  readonly row: BareRow;
  readonly content: Pick<TokenContent, 'type' | 'containers'>;
}

/** What expires need not be opened: its group says where it was counted. */
export function placed(row: BareRow & Partial<Pick<GroupedRow, 'containers'>>): PlacedToken {
  const type = isTokenType(row.type) ? row.type : 'token';
  return { row, content: { type, containers: row.containers ?? [] } };
}

/** Writes entries about tokens, and others with them, and counts the tokens as active in this month. */
export async function recordTouched(
  tx: TenantTx,
  auditContext: AuditContext,
  event: LogEvent,
  tokens: readonly PlacedToken[],
  others: readonly Entry[] = [],
): Promise<void> {
  const entries = entriesOf(event, tokens, 'success');
  const recorded = recordAll(tx, auditContext, others.length > 0 ? [...entries, ...others] : entries);
  const active = tokens.map(activeOf);
  // Most were made this month, and are counted already.
  if (!isUsageNew(auditContext, active)) return recorded;
  await Promise.all([recorded, countUsage(tx, auditContext, { differences: [], active })]);
}

export function recordTokens(
  tx: TenantTx,
  auditContext: AuditContext,
  event: LogEvent,
  tokens: readonly PlacedToken[],
  outcome: Outcome = 'success',
): Promise<void> {
  return recordAll(tx, auditContext, entriesOf(event, tokens, outcome));
}

function entriesOf(event: LogEvent, tokens: readonly PlacedToken[], outcome: Outcome): Entry[] {
  return tokens.map(({ row, content }) => ({ event, entityId: row.id, entityType: content.type, outcome }));
}

function activeOf({ row }: PlacedToken): ActiveToken {
  return { id: row.id, createdAtMs: row.created_at.getTime(), isNew: false };
}

/** Puts the changed token in place of the old one, with everything that hangs on it. */
export async function writeChange(
  tx: TenantTx,
  auditContext: AuditContext,
  before: OpenRow,
  after: OpenRow,
  event: LogEvent,
): Promise<void> {
  const hasNewTerms = !before.row.terms.equals(after.row.terms);
  const hasNewPrint = !samePrint(before.row.fingerprint, after.row.fingerprint);
  const hasMoved = before.row.group_id !== after.row.group_id;
  await Promise.all([
    updateToken(tx, before.row, after.row),
    hasNewTerms && deleteTerms(tx, [before.row]),
    hasNewTerms && insertTerms(tx, [after.row]),
    hasNewPrint && releaseClaim(tx, before.row),
    !hasNewPrint && !standsForSame(before, after) && releaseClaim(tx, before.row, claimScopeOf(after.row)),
    hasMoved &&
      countUsage(tx, auditContext, { differences: [differenceOf(before, -1), differenceOf(after, 1)], active: [] }),
    recordTokens(tx, auditContext, event, [after]),
    isSeenOtherwise(before, after) && emptyAnswersShowing(tx, [before.row.tie]),
  ]);
}

/** Takes tokens away, with everything that hangs on them. */
export async function removeTokens(
  tx: TenantTx,
  auditContext: AuditContext,
  tokens: readonly PlacedToken[],
  event: LogEvent,
): Promise<void> {
  const rows = tokens.map(({ row }) => row);
  await Promise.all([
    deleteTokens(tx, rows),
    deleteTerms(tx, rows),
    ...rows.map((row) => releaseClaim(tx, row)),
    countUsage(tx, auditContext, { differences: tokens.map((token) => differenceOf(token, -1)), active: [] }),
    recordTokens(tx, auditContext, event, tokens),
    emptyAnswersShowing(
      tx,
      rows.map(({ tie }) => tie),
    ),
  ]);
}

/** By other rules, or until another time: what was kept of answers that show it may be too much now. */
function isSeenOtherwise({ row: before }: OpenRow, { row: after }: OpenRow): boolean {
  return before.group_id !== after.group_id || before.expires_at?.getTime() !== after.expires_at?.getTime();
}

/** What is seen by other rules than before no longer stands for what is seen by those. */
function standsForSame(before: OpenRow, after: OpenRow): boolean {
  return (
    before.row.group_id === after.row.group_id &&
    before.row.expires_at?.getTime() === after.row.expires_at?.getTime() &&
    isMatchedAlike(before.content, after.content)
  );
}

function differenceOf({ row, content }: PlacedToken, difference: number) {
  return { groupId: row.group_id, type: content.type, containers: content.containers, difference };
}

function samePrint(a: Buffer | null, b: Buffer | null): boolean {
  return a === null || b === null ? a === b : a.equals(b);
}
