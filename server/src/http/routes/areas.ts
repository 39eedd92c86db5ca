import type { Scopes } from '../../limits/catalogue.js';
import { type LimitName, scopesOf } from '../../limits/catalogue.js';

/** A part of all paths, for what holds in it whether a route takes the request or none. */
export interface Area {
  /** The limits every request in it counts in besides `global`. */
  readonly limits: readonly LimitName[];
  readonly scopes: Scopes;
  /** Whether API keys are used here, so that pages of any origin may read what a path without a route answers. */
  readonly isForKeys: boolean;
}

const PORTAL_PATH = '/portal';

const API: Area = { limits: [], scopes: scopesOf([]), isForKeys: true };
/** The Portal's pages and endpoints are for its own origin alone. */
const PORTAL: Area = { limits: ['portal'], scopes: scopesOf(['portal']), isForKeys: false };

/** The area of a path as it was sent: neither an encoded spelling nor one that cannot be decoded leads out of it. */
export function areaOf(pathname: string): Area {
  const end = pathname.indexOf('/', 1);
  return decoded(end === -1 ? pathname : pathname.slice(0, end)) === PORTAL_PATH ? PORTAL : API;
}

/** As the router reads it, with an encoded slash left encoded. Undefined when it cannot be decoded, which the router refuses. */
function decoded(segment: string): string | undefined {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURI(segment);
  } catch {
    return undefined;
  }
}
