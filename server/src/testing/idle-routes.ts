import { createExpressions } from '../expressions/expressions.js';
import type { RouteRecord } from '../http/routes/route.js';
import { createLargeWork } from '../kernel/large-work.js';
import { createOpener } from '../resources/tokens/index.js';
import { tenantApiRoutes } from '../resources.js';
import type { TestApp } from './test-app.js';

/** The records of every route of the tenant API, to be looked at and not called. */
export function idleRoutes({ database, keyStore }: TestApp): RouteRecord[] {
  const refuse = () => Promise.reject(new Error('nothing is called here'));
  const ignore = () => {};
  return tenantApiRoutes({
    database,
    systemKeys: keyStore.systemKeys,
    tenants: { get: refuse, update: refuse, delete: refuse },
    accessHooks: { forgetAccess: ignore, onSecurity: ignore, onIntegrityFault: ignore },
    includedMonthlyActiveTokens: 0,
    largeWork: createLargeWork(),
    opener: createOpener({ database, keyring: keyStore.keyring, onIntegrityFault: ignore }),
    expressions: createExpressions(),
    tokensPerRequestMax: 1,
    fingerprints: 'revealed',
    searchData: 'masked',
  });
}
