import Type from 'typebox';
import { ENTITY_TYPES } from '../../audit/entity-types.js';
import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute, Rendered } from '../../http/routes/route.js';
import { LOG_EVENTS } from './events.js';
import { EntityTypeBody, LogList, LogsQuery } from './schema.js';
import type { Logs } from './service.js';

export function logRoutes(logs: Logs): RouteRecord[] {
  const base = {
    method: 'GET',
    permission: 'log:read',
    admits: ['application', 'user'],
    limits: [],
    tag: 'Logs',
    status: 200,
    audit: { entityId: '*', onDenied: LOG_EVENTS.denied },
  } as const;
  const entityTypes = new Rendered(ENTITY_TYPES);
  return [
    defineRoute({
      ...base,
      path: '/logs',
      summary: 'List logs',
      description: 'Entries of the audit log, newest first. Every parameter narrows the result.',
      query: LogsQuery,
      response: LogList,
      failures: ['invalid_cursor'],
      handle: ({ principal, auditContext, query }) => logs.list(principal.tenantId, query, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      path: '/logs/entity-types',
      summary: 'List log entity types',
      description: 'Every value `entity_type` of a log can have. The list may grow.',
      response: Type.Array(EntityTypeBody),
      handle: () => entityTypes,
    }),
  ];
}
