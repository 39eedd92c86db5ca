import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import type { FigureCalls } from '../../definitions/figures/figure-calls.js';
import { REACTOR_EVENTS } from '../events.js';
import { ReactorMetricsBody } from '../schema.js';

export function reactorFigureRoutes(figures: FigureCalls): RouteRecord[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/reactors/:id/metrics',
      permission: 'reactor:read',
      admits: ['application', 'user'],
      limits: [],
      tag: 'Reactors',
      summary: 'Get the figures of a Reactor',
      description:
        'Calls of the last 30 days: how many, how many failed and by what, how long they took. Tests are not counted.',
      example: { after: 'POST /reactors', params: { id: '$response.body#/id' } },
      status: 200,
      response: ReactorMetricsBody,
      audit: { entityId: { param: 'id' }, onDenied: REACTOR_EVENTS.denied, onRead: REACTOR_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) => figures.get(principal.tenantId, params.id, auditContext.atMs),
    }),
  ];
}
