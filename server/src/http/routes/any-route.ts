import type { PageRoute } from './page-route.js';
import type { Method, RouteRecord } from './route.js';
import type { StreamRoute } from './stream-route.js';

/** A route of any kind. */
export type AnyRoute = RouteRecord | StreamRoute | PageRoute;

export function isJsonRoute(route: AnyRoute): route is RouteRecord {
  return route.kind === 'json';
}

/** Routes of the API. Calls of the Portal's own pages are not part of it. */
export function isDocumented(route: AnyRoute): route is RouteRecord {
  return isJsonRoute(route) && route.portal === undefined;
}

/** Code of tenants calls what Applications call, and nothing of the Portal. */
export function isNotForPeople(route: AnyRoute): boolean {
  return route.kind === 'page' || route.portal === undefined;
}

export function methodsOf(route: AnyRoute): readonly Method[] {
  if (route.kind === 'json') return [route.method];
  return route.kind === 'page' ? ['GET'] : route.methods;
}
