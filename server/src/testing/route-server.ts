import type { Principal } from '../access/principal.js';
import type { RouteRecord } from '../http/routes/route.js';
import type { HttpServerOptions } from '../http/server.js';
import { createHttpServer } from '../http/server.js';
import { systemClock } from '../kernel/clock.js';
import { createLargeWork } from '../kernel/large-work.js';
import { parseTrustedProxies } from '../limits/client-address.js';
import type { Call } from './http-client.js';
import { createCaller } from './http-client.js';

export interface RouteServer {
  readonly call: Call;
  /** What went wrong on our side. */
  readonly faults: unknown[];
  close(): Promise<void>;
}

/** Whoever calls a route server with a key at all. */
export const CALLER: Principal = {
  tenantId: '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10',
  applicationId: '5d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a11',
  applicationType: 'private',
  actor: { type: 'application', id: '5d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a11' },
  permissions: new Set(['token:create']),
  grants: [],
};

/** Routes made up by a test, behind the real server and without a database. */
export async function startRouteServer(
  routes: readonly RouteRecord[],
  options: Partial<Pick<HttpServerOptions, 'auditRequest' | 'authenticate' | 'runOnce' | 'clock'>> = {},
): Promise<RouteServer> {
  const faults: unknown[] = [];
  const server = createHttpServer({
    clock: systemClock,
    headerPrefixes: ['SVC'],
    trustedProxies: parseTrustedProxies([]),
    rateCounter: undefined,
    inFlightMax: 100,
    largeWork: createLargeWork(),
    routes,
    authenticate: () => CALLER,
    auditRequest: undefined,
    runOnce: () => Promise.reject(new Error('nothing is stored here')),
    onUnauthenticated: () => {},
    onAnswered: () => {},
    onFault: (error) => faults.push(error),
    ...options,
  });
  const port = await server.listen('127.0.0.1', 0);
  return { call: createCaller(`http://127.0.0.1:${port}`), faults, close: () => server.close() };
}
