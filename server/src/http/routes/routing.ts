import type { IncomingMessage } from 'node:http';
import { portalCookieIn } from '../../access/portal-cookie-reader.js';
import { AppError } from '../../kernel/errors.js';
import type { LimitName, LimitRow, Scopes } from '../../limits/catalogue.js';
import { scopesOf } from '../../limits/catalogue.js';
import type { RequestContext } from '../transport/context.js';
import type { AnyRoute } from './any-route.js';
import { methodsOf } from './any-route.js';
import { areaOf } from './areas.js';
import { admitsKeys, admitsUsers } from './identify.js';
import type { Match } from './router.js';
import { createRouter } from './router.js';
import type { RouteRunner } from './runner.js';

/** A route that is ready to run, with what is asked of its record for each request. */
export interface Prepared {
  readonly run: RouteRunner;
  readonly scopes: Scopes;
  /** By the methods its path does not take. */
  readonly scopesOfRefused: ReadonlyMap<string, Scopes>;
  readonly isCrossOrigin: boolean;
  readonly isOfPortal: boolean;
  readonly admitsUsers: boolean;
  /** Of problems in place of the body itself; undefined where they are it. */
  readonly problemsIn: string | undefined;
}

/** What a path led to: a match, nothing, or why it cannot be read. */
export type Found = Match<Prepared> | undefined | AppError;

/** Finds the route of a request, and what counts for it by its record. */
export interface Routing {
  find(pathname: string): Found;
  /** The limits a request counts in, the widest first: one of a few shared arrays. */
  limitsOf(request: IncomingMessage, context: RequestContext, pathname: string, found: Found): readonly LimitRow[];
  /** Notes what every answer to the request has to say: whether pages of any origin may read it, and how a problem is told. */
  describe(request: IncomingMessage, context: RequestContext, pathname: string, found: Found): void;
}

const SLASH = 0x2f;
const NO_SCOPES: ReadonlyMap<string, Scopes> = new Map();

export function prepare(route: AnyRoute, run: RouteRunner): Prepared {
  const { limits, isForKeys } = areaOf(route.path);
  const scopes = (names: readonly LimitName[]): Scopes => scopesOf([...limits, ...names]);
  const refused = Object.entries(route.limitsOfRefused ?? {});
  return {
    run,
    scopes: scopes(route.limits),
    scopesOfRefused:
      refused.length === 0 ? NO_SCOPES : new Map(refused.map(([method, names]) => [method, scopes(names)])),
    isCrossOrigin: admitsKeys(route.admits),
    isOfPortal: !isForKeys,
    admitsUsers: admitsUsers(route.admits),
    problemsIn: route.kind === 'stream' ? route.problemsIn : undefined,
  };
}

export function createRouting(routes: readonly { readonly route: AnyRoute; readonly prepared: Prepared }[]): Routing {
  const route = createRouter<Prepared>(
    routes.flatMap(({ route: record, prepared }) =>
      methodsOf(record).map((method) => ({ method, path: record.path, target: prepared })),
    ),
  );

  function find(pathname: string): Found {
    if (pathname.charCodeAt(0) !== SLASH) return undefined;
    try {
      return route(pathname);
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }

  const framed = routes.flatMap(({ route: { path }, prepared: { problemsIn } }) =>
    problemsIn === undefined ? [] : [{ start: path.replace(/\/\*$/, ''), problemsIn }],
  );

  /** Also where no route takes the request: a client would take our refusal for somebody else's answer. */
  function problemsBelow(pathname: string): string | undefined {
    return framed.find(({ start }) => pathname === start || pathname.startsWith(`${start}/`))?.problemsIn;
  }

  return {
    find,
    limitsOf(request, context, pathname, found) {
      // A fragment is no part of a path, and must not lead around the limit of what stands before it.
      const end = pathname.indexOf('#');
      const path = end === -1 ? pathname : pathname.slice(0, end);
      const match = end === -1 ? found : find(path);
      const { method = 'GET' } = request;
      const target = targetOf(match, method);
      if (target === undefined) return (refusedScopes(match, method) ?? areaOf(path).scopes).api;
      return isByCookie(target, request, context) ? target.scopes.portal : target.scopes.api;
    },
    describe(request, context, pathname, found) {
      const target = targetOf(found, request.method ?? 'GET');
      // What a browser sends by itself must not be readable to pages of other origins, a refusal at the gate included.
      context.isCrossOrigin = target
        ? target.isCrossOrigin && !isByCookie(target, request, context)
        : isCrossOriginRefusal(pathname, found);
      context.isOfPortal = target ? target.isOfPortal : !areaOf(pathname).isForKeys;
      context.problemsIn = target ? target.problemsIn : problemsBelow(pathname);
    },
  };
}

/** Of a path without a route, or of a method it does not take. */
function isCrossOriginRefusal(pathname: string, found: Found): boolean {
  if (found === undefined || found instanceof AppError) return areaOf(pathname).isForKeys;
  for (const prepared of found.byMethod.values()) if (prepared.isCrossOrigin) return true;
  return false;
}

/** HEAD is answered by what answers GET. */
export function targetOf(found: Found, method: string): Prepared | undefined {
  if (found === undefined || found instanceof AppError) return undefined;
  return found.byMethod.get(method === 'HEAD' ? 'GET' : method);
}

function refusedScopes(found: Found, method: string): Scopes | undefined {
  if (found === undefined || found instanceof AppError) return undefined;
  for (const { scopesOfRefused } of found.byMethod.values()) {
    const scopes = scopesOfRefused.get(method);
    if (scopes) return scopes;
  }
  return undefined;
}

/** Whether a Portal cookie stands in for a key. */
function isByCookie(target: Prepared, { headers }: IncomingMessage, context: RequestContext): boolean {
  return target.admitsUsers && context.headers.apiKey === undefined && portalCookieIn(headers.cookie) !== undefined;
}
