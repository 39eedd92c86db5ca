import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { REPORT_EVENTS } from './events.js';
import { UsageReport } from './schema.js';
import type { Reports } from './service.js';

export function reportRoutes(reports: Reports): RouteRecord[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/tenants/self/reports/usage',
      permission: 'report:read',
      admits: ['application', 'user'],
      limits: [],
      tag: 'Reports',
      summary: 'Get the Tenant usage report',
      description: 'Tokens by type and monthly active tokens, exact at the moment of the answer.',
      status: 200,
      response: UsageReport,
      audit: { entityId: 'tenant', onDenied: REPORT_EVENTS.denied },
      handle: ({ principal, auditContext }) => reports.usage(principal.tenantId, auditContext),
    }),
  ];
}
