import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { OWN_TENANT_FAILURES, ownTenantCall, portalCall, portalPost } from '../portal/index.js';
import { AccessPreview, AccessPreviewInput, PortalApplicationList, PortalApplicationsQuery } from './schema.js';
import type { ApplicationPages } from './service.js';

/** A hundred rules with long descriptions fit. */
const PREVIEW_BYTES_MAX = 262_144;

export function applicationPageRoutes(pages: ApplicationPages): RouteRecord[] {
  return [
    defineRoute({
      ...portalCall,
      method: 'GET',
      path: '/portal/api/tenants/:tenant_id/applications',
      portal: 'signed in',
      summary: 'List Applications with their use',
      description: 'Newest first, with the last use of their keys and what ends next.',
      query: PortalApplicationsQuery,
      status: 200,
      response: PortalApplicationList,
      failures: OWN_TENANT_FAILURES,
      handle: (request) => pages.list(ownTenantCall(request), request.query),
    }),
    defineRoute({
      ...portalPost('/tenants/:tenant_id/access-preview', AccessPreviewInput),
      bodyBytesMax: PREVIEW_BYTES_MAX,
      portal: 'signed in',
      changesNothing: true,
      summary: 'Preview what an Application could do',
      description:
        'For each container with tokens, and those given: what an Application with these rights would see of a token there, and what it could do. No token is read, and nothing is stored.',
      status: 200,
      response: AccessPreview,
      failures: OWN_TENANT_FAILURES,
      handle: (request) => pages.preview(ownTenantCall(request), request.body),
    }),
  ];
}
