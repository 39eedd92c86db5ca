import type { Principal } from '../access/principal.js';
import type { OwnHeaders } from './own-headers.js';

/** What is known of a request, filled in on its way. */
export interface RequestContext {
  readonly traceId: string;
  readonly headers: OwnHeaders;
  readonly sourceAddress: string;
  /** The address as rate limits count it. */
  readonly limitKey: string;
  readonly startedAtMs: number;
  /** The pattern of the route, never the raw path: a path can hold what belongs in no log. */
  route: string;
  principal: Principal | undefined;
}
