import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { lastResponse } from './last-exchange.js';

/**
 * Ends an answer in the middle. Without chunks, as for HTTP/1.0, the end of the connection can be the end of the answer: there it is
 * reset, so that the client sees an error and takes no part for the whole.
 */
export function breakOff(response: ServerResponse): void {
  const { socket } = response;
  if (socket !== null && isEndSilent(response)) socket.resetAndDestroy();
  else response.destroy();
}

/** The same for a connection, whatever it is busy with. */
export function breakOffConnection(socket: Socket): void {
  const response = lastResponse(socket);
  if (response !== undefined && isEndSilent(response)) socket.resetAndDestroy();
  else socket.destroy();
}

/** Some of it is out, to a client that knows no chunks. Whether its length was told makes no difference: it is an error then too. */
function isEndSilent({ headersSent, useChunkedEncodingByDefault }: ServerResponse): boolean {
  return headersSent && !useChunkedEncodingByDefault;
}
