import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { OWN_TENANT_FAILURES, ownTenantCall, portalCall } from '../portal/index.js';
import { HistogramQuery, LogHistogram, PortalOverview, PortalUsage } from './schema.js';
import type { Activity } from './service.js';

export function activityRoutes(activity: Activity): RouteRecord[] {
  const base = {
    ...portalCall,
    method: 'GET',
    portal: 'signed in',
    status: 200,
    failures: OWN_TENANT_FAILURES,
  } as const;
  return [
    defineRoute({
      ...base,
      path: '/portal/api/tenants/:tenant_id/overview',
      summary: 'What happens in a Tenant',
      description: 'Tokens, activity and refusals of the last 30 days, and the first steps of a new Tenant.',
      response: PortalOverview,
      handle: (request) => activity.overview(ownTenantCall(request)),
    }),
    defineRoute({
      ...base,
      path: '/portal/api/tenants/:tenant_id/usage',
      summary: 'Usage of a Tenant by month',
      description: 'The usage report, and the active tokens of the months before.',
      response: PortalUsage,
      handle: (request) => activity.usage(ownTenantCall(request)),
    }),
    defineRoute({
      ...base,
      path: '/portal/api/tenants/:tenant_id/logs/histogram',
      summary: 'Log entries over time',
      description:
        'How many entries of the log match, by time. The last 30 days unless dates are given; never more than 400 days back.',
      query: HistogramQuery,
      response: LogHistogram,
      handle: (request) => activity.histogram(ownTenantCall(request), request.query),
    }),
  ];
}
