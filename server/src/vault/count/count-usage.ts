import type { AuditContext } from '../../audit/entry.js';
import { formatDate, monthsBefore } from '../../kernel/dates.js';
import type { TenantTx } from '../../storage/scope.js';
import type { GroupDifference, TokenCount } from './queries.js';
import {
  addActiveTokens,
  addToGroups,
  findActiveTokenCount,
  findTokenCounts,
  listActiveTokenCounts,
} from './queries.js';

const DAY_MS = 86_400_000;

/** A token that was created, read or used. */
export interface ActiveToken {
  readonly id: string;
  readonly createdAtMs: number;
  /** Made in this very transaction. */
  readonly isNew: boolean;
}

/** What happened to tokens in one transaction. */
export interface TokenUsage {
  readonly differences: readonly GroupDifference[];
  readonly active: readonly ActiveToken[];
}

/** Whether any of these changes what is counted for this month. */
export function isUsageNew({ atMs }: Pick<AuditContext, 'atMs'>, active: readonly ActiveToken[]): boolean {
  const month = monthOf(atMs);
  return active.some(({ createdAtMs, isNew }) => isNew || monthOf(createdAtMs) !== month);
}

/**
 * Keeps the counters true, in the transaction of what they count. A token made this month was counted when it was made,
 * so touching it again costs nothing; of older ones a row says that they were counted.
 */
export async function countUsage(
  tx: TenantTx,
  auditContext: AuditContext,
  { differences, active }: TokenUsage,
): Promise<void> {
  const month = monthOf(auditContext.atMs);
  const counted = active
    .filter(({ createdAtMs, isNew }) => isNew || monthOf(createdAtMs) !== month)
    .map(({ id, createdAtMs }) => (monthOf(createdAtMs) === month ? undefined : id));
  await Promise.all([
    differences.length > 0 && addToGroups(tx, differences),
    counted.length > 0 && addActiveTokens(tx, month, counted),
  ]);
}

/** How many tokens there are by type, and how many were active in the month. */
export interface UsageFigures {
  readonly counts: readonly TokenCount[];
  readonly active: number;
}

export async function findUsage(tx: TenantTx, nowMs: number): Promise<UsageFigures> {
  const [counts, active] = await Promise.all([findTokenCounts(tx, nowMs), findActiveTokenCount(tx, monthOf(nowMs))]);
  return { counts, active };
}

export interface ActiveMonth {
  /** `2030-01` */
  readonly month: string;
  readonly count: number;
}

/** The months before the current one, newest first, back to the first that has any; at most so many. */
export async function findActiveMonths(tx: TenantTx, nowMs: number, monthsMax: number): Promise<ActiveMonth[]> {
  const months = Array.from({ length: monthsMax }, (_, ago) => monthOf(monthsBefore(nowMs, ago + 1)));
  const counts = await listActiveTokenCounts(tx, months.at(-1) ?? monthOf(nowMs), monthOf(nowMs));
  const named = months.map((day) => day.slice(0, 7));
  const first = named.findLastIndex((month) => counts.has(month));
  return named.slice(0, first + 1).map((month) => ({ month, count: counts.get(month) ?? 0 }));
}

let lastDay = Number.NaN;
let lastMonth = '';

/** The first day of the calendar month in UTC. Most are asked about the same day again and again. */
function monthOf(atMs: number): string {
  const day = Math.floor(atMs / DAY_MS);
  if (day !== lastDay) {
    lastMonth = `${formatDate(atMs).slice(0, 7)}-01`;
    lastDay = day;
  }
  return lastMonth;
}
