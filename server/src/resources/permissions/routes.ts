import Type from 'typebox';
import type { ApplicationType } from '../../access/permissions.js';
import { APPLICATION_TYPES, mayHold, PERMISSIONS } from '../../access/permissions.js';
import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute, Rendered } from '../../http/routes/route.js';
import { PermissionBody, PermissionsQuery } from './schema.js';

/** The catalogue never changes while the process runs, so its four views are serialised once. */
export function permissionRoutes(): RouteRecord[] {
  const all = new Rendered(PERMISSIONS);
  const byType = new Map<ApplicationType, Rendered>(
    APPLICATION_TYPES.map((type) => [type, new Rendered(PERMISSIONS.filter((row) => mayHold(type, row.type)))]),
  );
  return [
    defineRoute({
      method: 'GET',
      path: '/permissions',
      permission: 'any key',
      admits: ['application', 'session', 'user'],
      limits: [],
      tag: 'Permissions',
      summary: 'List permissions',
      description: 'Every permission and the application types that may hold it.',
      query: PermissionsQuery,
      status: 200,
      response: Type.Array(PermissionBody),
      handle: ({ query }) => (query.application_type && byType.get(query.application_type)) ?? all,
    }),
  ];
}
