import type { AuditContext } from '../../audit/entry.js';
import { formatDate } from '../../kernel/dates.js';
import type { Database } from '../../storage/database.js';
import { findUsage } from '../../vault/index.js';
import { findIncludedTokens } from './queries.js';
import type { UsageReport } from './schema.js';

export interface Reports {
  usage(tenantId: string, auditContext: AuditContext): Promise<UsageReport>;
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
    async usage(tenantId, auditContext) {
      const [{ counts, active }, included] = await options.database.readPage(tenantId, (tx) =>
        Promise.all([findUsage(tx, auditContext.atMs), findIncludedTokens(tx)]),
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
