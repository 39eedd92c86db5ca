import { createCursors } from '../http/paging/cursor.js';
import type { AnyRoute } from '../http/routes/any-route.js';
import { isDocumented, isJsonRoute } from '../http/routes/any-route.js';
import type { RouteRecord } from '../http/routes/route.js';
import type { StreamRoute } from '../http/routes/stream-route.js';
import { systemClock } from '../kernel/clock.js';
import { createLargeWork } from '../kernel/large-work.js';
import { createPeople } from '../people/people.js';
import { tenantApiRoutes } from '../resources.js';
import type { TestApp } from './test-app.js';
import { testVault } from './test-vault.js';

/** The records of every JSON route of the tenant API, to be looked at and not called. */
export function idleRoutes(app: TestApp): RouteRecord[] {
  return idleRoutesOfAnyKind(app).filter(isDocumented);
}

/** The same of the calls of the Portal's own pages. */
export function idlePortalRoutes(app: TestApp): RouteRecord[] {
  return idleRoutesOfAnyKind(app)
    .filter(isJsonRoute)
    .filter((route) => !isDocumented(route));
}

/** Those of its calls that are streams. */
export function idlePortalStreams(app: TestApp): StreamRoute[] {
  return idleRoutesOfAnyKind(app).filter(
    (route) => route.kind === 'stream' && route.portal !== undefined,
  ) as StreamRoute[];
}

/** Every call of the Portal's pages, streams as the reads that they are. */
export function idlePortalCalls(app: TestApp): RouteRecord[] {
  const reads = idlePortalStreams(app).map((route): RouteRecord => {
    const words = { tag: '', summary: '', description: '' };
    return { ...route, ...words, kind: 'json', method: 'GET', status: 200, handle: () => undefined };
  });
  return [...idlePortalRoutes(app), ...reads];
}

export function idleRoutesOfAnyKind(app: TestApp): AnyRoute[] {
  const { database, keyStore } = app;
  const refuse = () => Promise.reject(new Error('nothing is called here'));
  const ignore = () => {};
  return tenantApiRoutes({
    database,
    vault: testVault(app),
    tenants: { get: refuse, update: refuse, delete: refuse },
    systemKeys: keyStore.systemKeys,
    cursors: createCursors(keyStore.systemKeys.cursorMac),
    tokensPerRequestMax: 1,
    includedMonthlyActiveTokens: 0,
    isAuditedInFull: false,
    noteVisit: refuse,
    logRetentionMonths: undefined,
    forgetAccess: ignore,
    onSecurity: ignore,
    onIntegrityFault: ignore,
    onReactorAltered: ignore,
    onProxyAltered: ignore,
    onMemberChanged: ignore,
    onMemberAltered: ignore,
    onInvited: ignore,
    onInvitationAltered: ignore,
    portalUrl: () => '',
    people: createPeople({
      ...{ database, clock: systemClock, systemKeys: keyStore.systemKeys },
      passwords: { hash: refuse, verify: refuse, burn: refuse },
      security: { onSignIn: ignore, onNoticeDropped: ignore, onPeopleAltered: ignore },
      ...{ mail: undefined, portalUrl: () => 'http://localhost' },
      oidc: { list: () => [], redirectUri: () => undefined, begin: refuse, finish: refuse },
    }),
    tenantMaker: refuse,
    transferOwnership: refuse,
    mail: undefined,
    tenantNameOf: refuse,
    invitationLinks: { preview: refuse, accept: refuse },
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
}
