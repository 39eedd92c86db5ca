import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface TrackedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const LAST_EXCHANGE = Symbol('strongroom.lastExchange');
type Tracked = Socket & { [LAST_EXCHANGE]?: TrackedExchange };

/** Notes what a connection is busy with. */
export function trackExchange(request: IncomingMessage, response: ServerResponse): void {
  (request.socket as Tracked)[LAST_EXCHANGE] = { request, response }; // The symbol is private to this file.
}

export function lastExchange(socket: Socket): TrackedExchange | undefined {
  return (socket as Tracked)[LAST_EXCHANGE]; // See trackExchange.
}
