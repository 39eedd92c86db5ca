import type { People } from '../../people/people.js';
import type { Database } from '../../storage/database.js';
import { findActiveMonths } from '../../vault/index.js';
import { LOG_EVENTS, logFilterOf } from '../logs/index.js';
import type { OwnTenantCall, OwnTenantOptions } from '../portal/index.js';
import { createEnterTenant } from '../portal/index.js';
import type { ReportsOptions } from '../reports/index.js';
import { createReports, REPORT_EVENTS } from '../reports/index.js';
import type { HistogramOptions } from './histogram/histogram.js';
import { histogramOf } from './histogram/histogram.js';
import type { OverviewOptions } from './overview/overview.js';
import { overviewOf } from './overview/overview.js';
import type { HistogramQuery, LogHistogram, PortalOverview, PortalUsage } from './schema.js';

export interface ActivityOptions extends OwnTenantOptions, ReportsOptions, OverviewOptions, HistogramOptions {
  readonly database: Database;
  readonly people: Pick<People, 'membership' | 'factors' | 'passkeys'>;
}

/** What pages of the Portal show of a tenant as a whole. */
export interface Activity {
  overview(call: OwnTenantCall): Promise<PortalOverview>;
  usage(call: OwnTenantCall): Promise<PortalUsage>;
  histogram(call: OwnTenantCall, query: HistogramQuery): Promise<LogHistogram>;
}

const REPORT = { permission: 'report:read', onDenied: REPORT_EVENTS.denied } as const;
/** Before the current one. */
const MONTHS_SHOWN_MAX = 24;

export function createActivity(options: ActivityOptions): Activity {
  const { database } = options;
  const enter = createEnterTenant(options);
  const reports = createReports(options);
  return {
    async overview(call) {
      const { tenantId } = await enter(call, REPORT);
      const [{ token_report: report }, rest] = await Promise.all([
        reports.usage(tenantId, call.auditContext),
        overviewOf(options, { tenantId, signedIn: call.signedIn, nowMs: call.auditContext.atMs }),
      ]);
      return {
        tokens: {
          active_this_month: report.monthly_active_tokens,
          included_this_month: report.included_monthly_active_tokens,
          by_type: Object.entries(report.metrics_by_type).map(([type, metrics]) => ({ type, ...metrics })),
        },
        ...rest,
      };
    },
    async usage(call) {
      const { tenantId } = await enter(call, REPORT);
      const [report, months] = await Promise.all([
        reports.usage(tenantId, call.auditContext),
        database.readAtOnce(tenantId, (tx) => findActiveMonths(tx, call.auditContext.atMs, MONTHS_SHOWN_MAX)),
      ]);
      return { report, months: months.map(({ month, count }) => ({ month, active_tokens: count })) };
    },
    async histogram(call, query) {
      const { tenantId } = await enter(call, { permission: 'log:read', onDenied: LOG_EVENTS.denied });
      return histogramOf(options, tenantId, logFilterOf(query), call.auditContext.atMs);
    },
  };
}
