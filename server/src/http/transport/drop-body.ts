import type { IncomingMessage } from 'node:http';
import { FragmentWatch } from '../../kernel/body-collector.js';

const MS_MAX = 2_000;
const BYTES_MAX = 16_777_216;

/**
 * Reads and drops what still comes of a request's body, and calls `done` once: at its end, or when it took two seconds or
 * 16 MiB. A connection that is closed with bytes unread is reset, and the client's system may then drop the answer too. That is
 * risked where the body comes in very small chunks, each of which takes as long as a large one.
 */
export function dropBody(request: IncomingMessage, done: () => void): void {
  const watch = new FragmentWatch();
  let bytes = 0;
  const timer = setTimeout(end, MS_MAX);
  function end(): void {
    clearTimeout(timer);
    request.off('data', onData);
    for (const name of ENDS) request.off(name, end);
    done();
  }
  function onData(piece: Buffer): void {
    bytes += piece.length;
    if (watch.add(piece.length)) request.socket.destroy();
    else if (bytes > BYTES_MAX) end();
  }
  request.on('data', onData);
  for (const name of ENDS) request.on(name, end);
  request.resume();
}

const ENDS = ['end', 'close', 'error'] as const;
