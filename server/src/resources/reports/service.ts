import type { Act } from '../../audit/entry.js';
import { formatDate } from '../../kernel/dates.js';
import type { Database } from '../../storage/database.js';
import type { TenantTx } from '../../storage/scope.js';
import {
  addActiveTokens,
  addToTokenCount,
  findActiveTokenCount,
  findIncludedTokens,
  findTokenCounts,
} from './queries.js';
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
      const [counts, active, included] = await options.database.read(tenantId, (tx) =>
        Promise.all([findTokenCounts(tx), findActiveTokenCount(tx, monthOf(act.atMs)), findIncludedTokens(tx)]),
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

/** What happened to tokens in one transaction. */
export interface TokenUsage {
  /** Token type to how many came (positive) or went (negative). */
  readonly differences: ReadonlyMap<string, number>;
  /** Tokens created, read or used. */
  readonly activeIds: readonly string[];
}

/** Keeps the counters true, in the transaction of what they count. Summed by the caller: one row a type, not a token. */
export async function countUsage(tx: TenantTx, act: Act, usage: TokenUsage): Promise<void> {
  const changed = [...usage.differences]
    .filter(([, difference]) => difference !== 0)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [type, difference] of changed) await addToTokenCount(tx, type, difference);
  if (usage.activeIds.length > 0) await addActiveTokens(tx, monthOf(act.atMs), [...new Set(usage.activeIds)]);
}

/** The first day of the calendar month in UTC. */
function monthOf(atMs: number): string {
  return `${formatDate(atMs).slice(0, 7)}-01`;
}
