import type { PageRoute } from './page-route.js';
import type { Method, RouteRecord } from './route.js';
import type { StreamRoute } from './stream-route.js';

/** A route of any kind. */
export type AnyRoute = RouteRecord | StreamRoute | PageRoute;

export function isJsonRoute(route: AnyRoute): route is RouteRecord {
  return route.kind === 'json';
}

export function methodsOf(route: AnyRoute): readonly Method[] {
  if (route.kind === 'json') return [route.method];
  return route.kind === 'page' ? ['GET'] : route.methods;
}
