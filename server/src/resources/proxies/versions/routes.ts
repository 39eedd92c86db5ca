import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { withoutSecretsFor } from '../../definitions/hidden.js';
import type { VersionCalls } from '../../definitions/version-calls.js';
import type { ProxyShape } from '../definition/content.js';
import { PROXY_EVENTS } from '../events.js';
import { ProxyBody, ProxyVersions } from '../schema.js';

const base = { limits: [], tag: 'Proxies', admits: ['application', 'user'] } as const;
const one = { entityId: { param: 'id' }, onDenied: PROXY_EVENTS.denied } as const;

export function proxyVersionRoutes(versions: VersionCalls<ProxyShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/proxies/:id/versions',
      permission: 'proxy:read',
      summary: 'List the versions of a Proxy',
      description: 'What it was before each of its last 20 changes, newest first.',
      example: { after: 'POST /proxies', params: { id: '$response.body#/id' } },
      status: 200,
      response: ProxyVersions,
      audit: { ...one, onRead: PROXY_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        withoutSecretsFor(principal, versions.list(principal.tenantId, auditContext, params.id)),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/proxies/:id/versions/:version/restore',
      stepUp: true,
      permission: 'proxy:update',
      summary: 'Restore a version of a Proxy',
      description: 'Everything but its key is again what it was.',
      example: { after: 'PUT /proxies/{id}', params: { id: '$response.body#/id', version: '1' } },
      status: 200,
      response: ProxyBody,
      audit: one,
      handle: ({ principal, auditContext, params }) =>
        versions.restore(principal.tenantId, auditContext, params.id, params.version),
    }),
  ];
}
