import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import type { FigureCalls } from '../../definitions/figures/figure-calls.js';
import { PROXY_EVENTS } from '../events.js';
import { ProxyMetricsBody } from '../schema.js';

export function proxyFigureRoutes(figures: FigureCalls): RouteRecord[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/proxies/:id/metrics',
      permission: 'proxy:read',
      admits: ['application', 'user'],
      limits: [],
      tag: 'Proxies',
      summary: 'Get the figures of a Proxy',
      description: 'Calls of the last 30 days: how many, how many failed and by what, how long they took.',
      example: { after: 'POST /proxies', params: { id: '$response.body#/id' } },
      status: 200,
      response: ProxyMetricsBody,
      audit: { entityId: { param: 'id' }, onDenied: PROXY_EVENTS.denied, onRead: PROXY_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) => figures.get(principal.tenantId, params.id, auditContext.atMs),
    }),
  ];
}
