import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestContext } from './context.js';

const LAST_RESPONSE = Symbol('strongroom.lastResponse');
const CONTEXT = Symbol('strongroom.context');
type Tracked = Socket & { [LAST_RESPONSE]?: ServerResponse };
type Known = ServerResponse & { [CONTEXT]?: RequestContext };

/** Notes what a connection is busy with. */
export function trackExchange(request: IncomingMessage, response: ServerResponse): void {
  (request.socket as Tracked)[LAST_RESPONSE] = response; // The symbol is private to this file.
}

/** The latest answer on a connection, sent or still to come. It knows its request. */
export function lastResponse(socket: Socket): ServerResponse | undefined {
  return (socket as Tracked)[LAST_RESPONSE]; // See trackExchange.
}

/** Notes what is known of the request that the answer is for, and gives it back. */
export function noted(response: ServerResponse, context: RequestContext): RequestContext {
  (response as Known)[CONTEXT] = context; // The symbol is private to this file.
  return context;
}

export function knownOf(response: ServerResponse): RequestContext | undefined {
  return (response as Known)[CONTEXT]; // See noted.
}
