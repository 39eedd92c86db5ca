import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { TENANT_EVENTS } from './events.js';
import { TenantBody, TenantUpdate } from './schema.js';
import type { Tenants } from './service.js';

export function tenantRoutes(tenants: Tenants): RouteRecord[] {
  const base = { path: '/tenants/self', limits: [], tag: 'Tenants' } as const;
  return [
    defineRoute({
      ...base,
      method: 'GET',
      permission: 'tenant:read',
      summary: 'Get the Tenant',
      description: 'The Tenant that owns the API key.',
      status: 200,
      response: TenantBody,
      isRemembered: true,
      audit: { entityId: 'tenant', onRead: TENANT_EVENTS.retrieved, onDenied: TENANT_EVENTS.denied },
      handle: ({ principal }) => tenants.get(principal.tenantId),
    }),
    defineRoute({
      ...base,
      method: 'PUT',
      permission: 'tenant:update',
      summary: 'Update the Tenant',
      description: 'Replaces the name; a setting left out keeps its value.',
      body: TenantUpdate,
      status: 200,
      response: TenantBody,
      audit: { entityId: 'tenant', onDenied: TENANT_EVENTS.denied },
      handle: ({ principal, act, body }) => tenants.update(principal.tenantId, act, body),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      permission: 'tenant:delete',
      summary: 'Delete the Tenant',
      description: 'Destroys its keys and revokes every credential at once; rows are removed in the background.',
      status: 204,
      audit: { entityId: 'tenant', onDenied: TENANT_EVENTS.denied },
      handle: ({ principal, act }) => tenants.delete(principal.tenantId, act),
    }),
  ];
}
