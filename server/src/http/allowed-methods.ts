import type { RouteRecord } from './route.js';

/** The methods a path answers, or none if no route has that path. */
export type AllowedMethods = (pathname: string) => readonly string[];

/** Asked only when no route matched, to tell an unknown path from a wrong method. */
export function createAllowedMethods(routes: readonly Pick<RouteRecord, 'method' | 'path'>[]): AllowedMethods {
  const byPattern = new Map<string, string[]>();
  for (const { method, path } of routes) {
    const methods = byPattern.get(path) ?? [];
    methods.push(...(method === 'GET' ? ['GET', 'HEAD'] : [method]));
    byPattern.set(path, methods);
  }
  const patterns = [...byPattern].map(([path, methods]) => {
    const source = path.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/:[a-z_]+/g, '[^/]+');
    return { pattern: new RegExp(`^${source}/?$`), methods: [...methods, 'OPTIONS'] };
  });
  return (pathname) => patterns.find(({ pattern }) => pattern.test(pathname))?.methods ?? [];
}
