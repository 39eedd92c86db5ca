import { createPortalCookieReader } from '../access/portal-cookie-reader.js';
import type { Application } from '../access/principal.js';
import type { AnyRoute } from '../http/routes/any-route.js';
import type { HttpServer, HttpServerOptions } from '../http/server.js';
import { createHttpServer } from '../http/server.js';
import { systemClock } from '../kernel/clock.js';
import { createLargeWork } from '../kernel/large-work.js';
import { parseTrustedProxies } from '../limits/client-address.js';
import type { Call } from './http-client.js';
import { createCaller } from './http-client.js';

export interface RouteServer {
  readonly call: Call;
  readonly port: number;
  readonly server: HttpServer;
  /** What was answered, as the request lines have it: route and status. */
  readonly answered: string[];
  /** What went wrong on our side. */
  readonly faults: unknown[];
  close(): Promise<void>;
}

/** Whoever calls a route server with a key at all. */
export const CALLER: Application = {
  kind: 'application',
  tenantId: '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10',
  applicationId: '5d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a11',
  applicationType: 'private',
  keyId: '6d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a12',
  actor: { type: 'application', id: '5d4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a11' },
  permissions: new Set(['token:create']),
  grants: [],
};

/** Routes made up by a test, behind the real server and without a database. */
export async function startRouteServer(
  routes: readonly AnyRoute[],
  options: Partial<HttpServerOptions> = {},
): Promise<RouteServer> {
  const faults: unknown[] = [];
  const answered: string[] = [];
  const server = createHttpServer({
    clock: systemClock,
    headerPrefixes: ['SVC'],
    trustedProxies: parseTrustedProxies([]),
    rateCounter: undefined,
    inFlightMax: 100,
    largeWork: createLargeWork(),
    routes,
    authenticate: () => CALLER,
    readPortalCookie: createPortalCookieReader(undefined),
    portal: { sessions: { find: async () => undefined }, isOwnOrigin: () => true },
    auditRequest: undefined,
    runOnce: () => Promise.reject(new Error('nothing is stored here')),
    onUnauthenticated: () => {},
    onAnswered: ({ context }, status) => answered.push(`${context.route} ${status}`),
    onFault: (error) => faults.push(error),
    ...options,
  });
  const port = await server.listen('127.0.0.1', 0);
  const call = createCaller(`http://127.0.0.1:${port}`);
  return { call, port, server, answered, faults, close: () => server.close() };
}
