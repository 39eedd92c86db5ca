import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { problemOf } from './problem.js';

/** What the HTTP parser itself refuses, and requests that took too long to arrive, get a problem body too. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // An answer already under way cannot be followed by another one; a reset peer cannot be told anything.
  if (error.code === 'ECONNRESET' || !socket.writable || isAnswering(socket)) {
    socket.destroy();
    return;
  }
  const problem = problemOf(translate(error), { traceId: newId(), prefix: 'SVC' });
  socket.end(rawAnswer(problem.status, { ...problem.headers, 'X-Content-Type-Options': 'nosniff' }, problem.body));
}

const LAST_RESPONSE = Symbol('strongroom.lastResponse');
type Tracked = Socket & { [LAST_RESPONSE]?: ServerResponse };

/** Notes whose answer a connection is busy with. */
export function trackResponse(socket: Socket, response: ServerResponse): void {
  (socket as Tracked)[LAST_RESPONSE] = response; // The symbol is private to this file.
}

function isAnswering(socket: Socket): boolean {
  const response = (socket as Tracked)[LAST_RESPONSE]; // See trackResponse.
  return response?.headersSent === true && !response.writableFinished;
}

/** CONNECT asks for a tunnel, and this is no proxy of that kind. */
export function refuseConnect(socket: Socket): void {
  const error = new AppError('method_not_allowed', 'This service does not open tunnels.', {
    headers: { Allow: 'GET' },
  });
  const problem = problemOf(error, { traceId: newId(), prefix: 'SVC' });
  socket.end(rawAnswer(problem.status, problem.headers, problem.body));
}

function translate(error: NodeJS.ErrnoException): AppError {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'The headers are larger than 16 KB.');
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'The request took too long to arrive.');
    default:
      return new AppError('malformed_request', 'The request is not valid HTTP.');
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
};

function rawAnswer(status: number, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries({ ...headers, 'Cache-Control': 'no-store', Connection: 'close' });
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
