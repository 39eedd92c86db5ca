import type { Endpoint, Resource } from './resource.js';
import * as resources from './resources.js';

/** Those that want the tenant without tokens come first. */
export const RESOURCES: readonly Resource[] = Object.values<Resource>(resources).sort(
  (a, b) => Number(b.needsNoTokens ?? false) - Number(a.needsNoTokens ?? false),
);

/** Every row of the index that is built. Each of its statuses must have been seen when the suite ends. */
export const ENDPOINTS: readonly Endpoint[] = RESOURCES.flatMap(({ endpoints }) => endpoints);

/** Paths with the methods each of them takes. */
export const METHODS_BY_PATH: ReadonlyMap<string, readonly string[]> = new Map(
  [...new Set(ENDPOINTS.map(({ path }) => path))].map((path) => [
    path,
    ENDPOINTS.filter((one) => one.path === path).map(({ method }) => method),
  ]),
);

/** The path of the index that an address is about; a fixed segment goes before a parameter. */
export function pathOf(address: string): string | undefined {
  const [pathname = ''] = address.split('?');
  const segments = pathname.replace(/(?<=.)\/$/, '').split('/');
  const fits = [...METHODS_BY_PATH.keys()].filter((path) => {
    const parts = path.split('/');
    return parts.length === segments.length && parts.every((part, n) => part.startsWith('{') || part === segments[n]);
  });
  return fits.sort((a, b) => a.split('{').length - b.split('{').length)[0];
}
