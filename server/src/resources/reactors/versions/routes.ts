import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { withoutSecretsFor } from '../../definitions/hidden.js';
import type { VersionCalls } from '../../definitions/version-calls.js';
import type { ReactorShape } from '../definition/content.js';
import { REACTOR_EVENTS } from '../events.js';
import { ReactorBody, ReactorVersions } from '../schema.js';

const base = { limits: [], tag: 'Reactors', admits: ['application', 'user'] } as const;
const one = { entityId: { param: 'id' }, onDenied: REACTOR_EVENTS.denied } as const;

export function reactorVersionRoutes(versions: VersionCalls<ReactorShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/reactors/:id/versions',
      permission: 'reactor:read',
      summary: 'List the versions of a Reactor',
      description: 'What it was before each of its last 20 changes, newest first.',
      example: { after: 'POST /reactors', params: { id: '$response.body#/id' } },
      status: 200,
      response: ReactorVersions,
      audit: { ...one, onRead: REACTOR_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        withoutSecretsFor(principal, versions.list(principal.tenantId, auditContext, params.id)),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/reactors/:id/versions/:version/restore',
      stepUp: true,
      permission: 'reactor:update',
      summary: 'Restore a version of a Reactor',
      description: 'Name, code, configuration and Application are again what they were. The callback secret stays.',
      example: { after: 'PUT /reactors/{id}', params: { id: '$response.body#/id', version: '1' } },
      status: 200,
      response: ReactorBody,
      audit: one,
      handle: ({ principal, auditContext, params }) =>
        versions.restore(principal.tenantId, auditContext, params.id, params.version),
    }),
  ];
}
