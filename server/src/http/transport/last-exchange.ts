import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LAST_RESPONSE = Symbol('strongroom.lastResponse');
type Tracked = Socket & { [LAST_RESPONSE]?: ServerResponse };

/** Notes what a connection is busy with. */
export function trackExchange(request: IncomingMessage, response: ServerResponse): void {
  (request.socket as Tracked)[LAST_RESPONSE] = response; // The symbol is private to this file.
}

/** The latest answer on a connection, sent or still to come. It knows its request. */
export function lastResponse(socket: Socket): ServerResponse | undefined {
  return (socket as Tracked)[LAST_RESPONSE]; // See trackExchange.
}
