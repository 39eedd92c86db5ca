import type { IncomingMessage } from 'node:http';

/** A browser asks whether a page of another origin may send what it is about to send. */
export function isPreflight(request: IncomingMessage): boolean {
  // The method first: Node builds the object of all headers when it is looked at.
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}
