import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { OWN_TENANT_FAILURES, ownTenantCall, portalCall, portalPost } from '../portal/index.js';
import { PortalToken, PortalTokenList, PortalTokenSearch } from './schema.js';
import type { TokenPages } from './service.js';

export function tokenPageRoutes(pages: TokenPages): RouteRecord[] {
  return [
    defineRoute({
      ...portalCall,
      method: 'GET',
      path: '/portal/api/tenants/:tenant_id/tokens/:id',
      portal: 'signed in',
      summary: 'Look at a token',
      description: 'Everything but what it holds. The log has an entry for it, by the user.',
      status: 200,
      response: PortalToken,
      failures: OWN_TENANT_FAILURES,
      handle: (request) => pages.get(ownTenantCall(request), request.params.id ?? ''),
    }),
    defineRoute({
      ...portalPost('/tenants/:tenant_id/tokens/search', PortalTokenSearch),
      portal: 'signed in',
      optionalBody: true,
      changesNothing: true,
      summary: 'Search tokens',
      description: 'Newest first, by id, type, container and metadata; a container includes what is below it.',
      status: 200,
      response: PortalTokenList,
      failures: [...OWN_TENANT_FAILURES, 'invalid_query', 'invalid_cursor'],
      handle: (request) => pages.search(ownTenantCall(request), request.body),
    }),
  ];
}
