import type { Act } from '../../audit/entry.js';
import { formatDate } from '../../kernel/dates.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import type { GroupDifference } from './queries.js';
import { addActiveTokens, addToGroups, findActiveTokenCount, findIncludedTokens, findTokenCounts } from './queries.js';
import type { UsageReport } from './schema.js';

export interface Reports {
  usage(tenantId: string, act: Act): Promise<UsageReport>;
}

export interface ReportsOptions {
  readonly database: Database;
  /** What a plan includes unless the tenant has a figure of its own. */
  readonly includedMonthlyActiveTokens: number;
}

/** Types every report shows, whether or not the tenant has such tokens. */
const ALWAYS_SHOWN = ['token', 'bank', 'card'] as const;

export function createReports(options: ReportsOptions): Reports {
  return {
    async usage(tenantId, act) {
      const [counts, active, included] = await options.database.readPage(tenantId, (tx) =>
        Promise.all([
          findTokenCounts(tx, act.atMs),
          findActiveTokenCount(tx, monthOf(act.atMs)),
          findIncludedTokens(tx),
        ]),
      );
      const metrics: UsageReport['token_report']['metrics_by_type'] = {};
      for (const type of ALWAYS_SHOWN) metrics[type] = { count: 0 };
      for (const { type, count, lastCreatedAt } of counts) {
        metrics[type] = { count, ...(lastCreatedAt && { last_created_at: formatDate(lastCreatedAt.getTime()) }) };
      }
      return {
        token_report: {
          metrics_by_type: metrics,
          included_monthly_active_tokens: included ?? options.includedMonthlyActiveTokens,
          monthly_active_tokens: active,
        },
      };
    },
  };
}

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

/**
 * Keeps the counters true, in the transaction of what they count. A token made this month was counted when it was made,
 * so touching it again costs nothing; of older ones a row says that they were counted.
 */
export async function countUsage(tx: TenantTx, act: Act, { differences, active }: TokenUsage): Promise<void> {
  const month = monthOf(act.atMs);
  const counted = active
    .filter(({ createdAtMs, isNew }) => isNew || monthOf(createdAtMs) !== month)
    .map(({ id, createdAtMs }) => (monthOf(createdAtMs) === month ? undefined : id));
  await Promise.all([
    differences.length > 0 && addToGroups(tx, differences),
    counted.length > 0 && addActiveTokens(tx, month, counted),
  ]);
}

/** The first day of the calendar month in UTC. */
function monthOf(atMs: number): string {
  return `${formatDate(atMs).slice(0, 7)}-01`;
}
