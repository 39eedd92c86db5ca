import type { Slice } from '../slice.js';
import { portalRoutes } from './routes.js';
import type { PortalOptions } from './service.js';
import { createPortal } from './service.js';

export type { AskStill, EnterTenant, OwnTenantCall, OwnTenantOptions, Withdrawn } from './calls/own-tenant.js';
export { createAskStill, createEnterTenant, OWN_TENANT_FAILURES } from './calls/own-tenant.js';
export { ownTenantCall, portalCall, portalPost } from './calls/portal-call.js';

/** The calls of the Portal's own pages. What a user does with a tenant goes over the routes of the tenant API. */
export const portal: Slice<PortalOptions> = {
  name: 'portal',
  routes: (parts) => portalRoutes(createPortal(parts), parts.people),
  events: [],
  tables: [],
};
