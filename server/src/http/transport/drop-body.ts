import type { IncomingMessage } from 'node:http';
import { isFragmented } from '../../kernel/body-collector.js';

const MS_MAX = 2_000;
const BYTES_MAX = 16_777_216;

/**
 * Reads and drops what still comes of a request's body, and calls `done` once: at its end, or when it took two seconds or
 * 16 MiB. A connection that is closed with bytes unread is reset, and the client's system may then drop the answer too.
 */
export function dropBody(request: IncomingMessage, done: () => void): void {
  let pieces = 0;
  let bytes = 0;
  const timer = setTimeout(end, MS_MAX);
  function end(): void {
    clearTimeout(timer);
    request.off('data', onData);
    for (const name of ENDS) request.off(name, end);
    done();
  }
  function onData(piece: Buffer): void {
    pieces += 1;
    bytes += piece.length;
    if (bytes > BYTES_MAX || isFragmented(pieces, bytes)) end();
  }
  request.on('data', onData);
  for (const name of ENDS) request.on(name, end);
  request.resume();
}

const ENDS = ['end', 'close', 'error'] as const;
