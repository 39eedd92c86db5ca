import type { ServerResponse } from 'node:http';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { readsPlainJsonAlone } from './accept.js';
import { breakOff } from './break-off.js';
import { HEADER_BYTES_MAX } from './hostile.js';
import { knownOf, lastResponse } from './last-exchange.js';
import type { Caller } from './problem.js';
import { problemOf } from './problem.js';

/** What the HTTP parser itself refuses, and requests that took too long to arrive, get a problem body too. */
export function answerClientError(error: ParserError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  refuseInTurn(socket, translate(error), readsPlainJsonAlone(acceptIn(error.rawPacket)));
}

/** The parser adds what it was reading. */
interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer;
}

const ACCEPT_LINE = /^accept:(.*)$/gim;

/** The headers of that name in a request that could not be read, as far as they came with what was refused. */
function acceptIn(packet: Buffer | undefined): string[] {
  const text = packet?.toString('latin1', 0, HEADER_BYTES_MAX) ?? '';
  return [...text.matchAll(ACCEPT_LINE)].flatMap(([, value = '']) => ['Accept', value]);
}

/**
 * Answers CONNECT with 405. Node passes the bare socket of such a request on without an `error` listener, so a reset by the
 * client would end the process; an answer to an earlier request on the same connection still goes out first.
 */
export function refuseConnect(socket: Socket): void {
  socket.on('error', () => socket.destroy());
  const headers = { Allow: 'GET' };
  refuseInTurn(socket, new AppError('method_not_allowed', 'This service does not open tunnels.', { headers }), false);
}

/** One answer for each request: what is under way goes out first, what has been answered is not answered again. */
function refuseInTurn(socket: Socket, error: AppError, isPlainJson: boolean): void {
  const last = lastResponse(socket);
  const stranger = { traceId: newId(), prefix: 'SVC', isPlainJson };
  if (last === undefined) refuse(socket, error, stranger);
  else if (last.req.complete && last.writableFinished) refuse(socket, error, stranger);
  else if (last.req.complete) last.once('close', () => refuse(socket, error, stranger));
  else if (last.headersSent) breakOff(last);
  else refuse(socket, error, callerOf(last, error) ?? stranger);
}

/** Of a request that is still arriving. It is answered here: what it then fails with is told to nobody. */
function callerOf(response: ServerResponse, error: AppError): Caller | undefined {
  const context = knownOf(response);
  if (context === undefined) return undefined;
  context.refusal ??= error;
  const { traceId, headers, problemsIn } = context;
  return { traceId, prefix: headers.prefix, isPlainJson: readsPlainJsonAlone(response.req.rawHeaders), problemsIn };
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

const LINGER_MS = 1_000;

/** Written by hand: where the parser gave up there is no response object to write with. */
function refuse(socket: Socket, error: AppError, caller: Caller): void {
  if (!socket.writable) return;
  const { status, headers, body } = problemOf(error, caller);
  const all = {
    ...headers,
    [`${caller.prefix}-TRACE-ID`]: caller.traceId,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'Access-Control-Allow-Origin': '*',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  // The peer gets a moment to read it; one that never closes its side must not keep the connection.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.end([`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', body].join('\r\n'));
}
