import type { RouteExample, RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { TENANT_EVENTS } from './events.js';
import { TenantBody, TenantUpdate } from './schema.js';
import type { Tenants } from './service.js';

const [NAME, FINGERPRINT, DEDUPLICATE] = ['name', 'settings/fingerprint_tokens', 'settings/deduplicate_tokens'].map(
  (field) => `$response.body#/${field}`,
) as [string, string, string]; // One for each of the three.

/** What the Tenant has already, so that sending it changes nothing. */
const UPDATE_EXAMPLE: RouteExample = {
  after: 'GET /tenants/self',
  body: {
    name: `{${NAME}}`,
    settings: { fingerprint_tokens: `{${FINGERPRINT}}`, deduplicate_tokens: `{${DEDUPLICATE}}` },
  },
  samples: { [NAME]: 'Production', [FINGERPRINT]: 'false', [DEDUPLICATE]: 'false' },
};

export function tenantRoutes(tenants: Tenants): RouteRecord[] {
  const base = { path: '/tenants/self', limits: [], tag: 'Tenants' } as const;
  return [
    defineRoute({
      ...base,
      method: 'GET',
      permission: 'tenant:read',
      admits: ['application', 'user'],
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
      admits: ['application', 'user'],
      summary: 'Update the Tenant',
      description: 'Replaces the name; a setting left out keeps its value.',
      body: TenantUpdate,
      example: UPDATE_EXAMPLE,
      status: 200,
      response: TenantBody,
      audit: { entityId: 'tenant', onDenied: TENANT_EVENTS.denied },
      handle: ({ principal, auditContext, body }) => tenants.update(principal.tenantId, auditContext, body),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      permission: 'tenant:delete',
      admits: ['application', 'user'],
      summary: 'Delete the Tenant',
      description: 'Destroys its keys and revokes every credential at once; rows are removed in the background.',
      stepUp: true,
      status: 204,
      audit: { entityId: 'tenant', onDenied: TENANT_EVENTS.denied },
      handle: ({ principal, auditContext }) => tenants.delete(principal.tenantId, auditContext),
    }),
  ];
}
