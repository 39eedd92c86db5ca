import type { RouteRecord } from '../../http/routes/route.js';
import type { People } from '../../people/people.js';
import { factorRoutes } from './calls/factor-routes.js';
import { acceptRoutes } from './calls/invitation-routes.js';
import { issuerRoutes } from './calls/issuer-routes.js';
import { passkeyRoutes } from './calls/passkey-routes.js';
import { profileRoutes } from './calls/profile-routes.js';
import { signInRoutes } from './calls/sign-in-routes.js';
import { ownTenantRoutes } from './calls/tenant-routes.js';
import { wayBackRoutes } from './calls/way-back-routes.js';
import type { Portal } from './service.js';

export function portalRoutes(portal: Portal, people: People): RouteRecord[] {
  const { accounts, factors, passkeys, identities } = people;
  return [
    ...signInRoutes(portal, accounts),
    ...profileRoutes(portal, accounts),
    ...factorRoutes(portal, factors),
    ...passkeyRoutes(portal, passkeys),
    ...issuerRoutes(portal, identities),
    ...ownTenantRoutes(portal),
    ...acceptRoutes(portal),
    ...wayBackRoutes(people),
  ];
}
