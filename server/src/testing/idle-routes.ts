import { createCursors } from '../http/paging/cursor.js';
import { isJsonRoute } from '../http/routes/any-route.js';
import type { RouteRecord } from '../http/routes/route.js';
import { systemClock } from '../kernel/clock.js';
import { createLargeWork } from '../kernel/large-work.js';
import { tenantApiRoutes } from '../resources.js';
import type { TestApp } from './test-app.js';
import { testVault } from './test-vault.js';

/** The records of every JSON route of the tenant API, to be looked at and not called. */
export function idleRoutes(app: TestApp): RouteRecord[] {
  const { database, keyStore } = app;
  const refuse = () => Promise.reject(new Error('nothing is called here'));
  const ignore = () => {};
  const routes = tenantApiRoutes({
    database,
    vault: testVault(app),
    tenants: { get: refuse, update: refuse, delete: refuse },
    systemKeys: keyStore.systemKeys,
    cursors: createCursors(keyStore.systemKeys.cursorMac),
    tokensPerRequestMax: 1,
    includedMonthlyActiveTokens: 0,
    forgetAccess: ignore,
    onSecurity: ignore,
    onIntegrityFault: ignore,
    onReactorAltered: ignore,
    onProxyAltered: ignore,
    proxyMemory: { find: refuse, forgetTenant: ignore },
    reactorMemory: { find: refuse, forgetTenant: ignore },
    proxyFigures: { note: ignore, flush: refuse },
    keyring: keyStore.keyring,
    clock: systemClock,
    headerPrefixes: [],
    principals: { application: refuse, session: refuse },
    sandbox: { run: refuse, state: () => undefined },
    outbound: { send: refuse },
    rateCounter: () => undefined,
    proxyBodyBytesMax: 1,
    largeWork: createLargeWork(),
    reactorFigures: { note: ignore, flush: refuse },
    queue: { nowMs: () => 0, wake: ignore, end: ignore },
  });
  return routes.filter(isJsonRoute);
}
