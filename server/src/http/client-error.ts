import type { Socket } from 'node:net';
import { AppError } from '../kernel/errors.js';
import { newId } from '../kernel/ids.js';
import { problemOf } from './problem.js';

/** What the HTTP parser itself refuses, and requests that took too long to arrive, get a problem body too. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // A response already under way cannot be followed by another one; a reset peer cannot be told anything.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > bytesAnswered(socket)) {
    socket.destroy();
    return;
  }
  const problem = problemOf(translate(error), { traceId: newId(), prefix: 'SVC' });
  socket.end(rawAnswer(problem.status, { ...problem.headers, 'X-Content-Type-Options': 'nosniff' }, problem.body));
}

const ANSWERED = Symbol('strongroom.bytesAnswered');
type Counted = Socket & { [ANSWERED]?: number };

/** Remembers how much had been written when the last answer on this connection was complete. */
export function markAnswered(socket: Socket): void {
  (socket as Counted)[ANSWERED] = socket.bytesWritten; // The symbol is private to this file.
}

function bytesAnswered(socket: Socket): number {
  return (socket as Counted)[ANSWERED] ?? 0; // See markAnswered.
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

export function rawAnswer(status: number, headers: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries({ ...headers, 'Cache-Control': 'no-store', Connection: 'close' });
  return [
    `HTTP/1.1 ${status} ${REASONS[status] ?? 'Error'}`,
    ...lines.map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${Buffer.byteLength(body)}`,
    '',
    body,
  ].join('\r\n');
}
