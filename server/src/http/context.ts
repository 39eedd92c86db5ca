import type { IncomingMessage } from 'node:http';
import type { Principal } from '../access/principal.js';

/** What is known of a request, filled in as it passes the gate and the hooks. */
export interface RequestContext {
  readonly traceId: string;
  /** The header prefix the client used. */
  readonly prefix: string;
  readonly sourceAddress: string;
  /** The address as rate limits count it. */
  readonly limitKey: string;
  readonly startedAtMs: number;
  /** The pattern of the route, never the raw path: a path can hold what belongs in no log. */
  route: string;
  principal: Principal | undefined;
}

const CONTEXT = Symbol('strongroom.context');

type WithContext = IncomingMessage & { [CONTEXT]?: RequestContext };

export function setContext(request: IncomingMessage, context: RequestContext): void {
  (request as WithContext)[CONTEXT] = context; // The symbol is private to this file.
}

export function contextOf(request: IncomingMessage): RequestContext {
  const context = (request as WithContext)[CONTEXT]; // Set by the gate before anything else runs.
  if (!context) throw new Error('assertion failed: the request did not pass the gate');
  return context;
}
