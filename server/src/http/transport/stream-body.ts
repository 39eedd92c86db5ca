import type { IncomingMessage, ServerResponse } from 'node:http';
import { brokenOff, readBody, refuseTooLong, tooLarge } from './body.js';

/** The body of a request in pieces, read no faster than they are taken. A length that is told and too large is refused at once. */
export function bodyPieces(
  request: IncomingMessage,
  response: ServerResponse,
  bytesMax: number,
): AsyncGenerator<Buffer, void, void> {
  refuseTooLong(request, bytesMax);
  return piecesOf(request, response, bytesMax);
}

/** Longer ones are worth their pieces. */
const SHORT_BYTES = 65_536;

/** Reads a body that is announced as short all at once, which takes far less time than its pieces; undefined for others. */
export function shortBody(request: IncomingMessage, response: ServerResponse): (() => Promise<Buffer>) | undefined {
  const announced = Number(request.headers['content-length'] ?? 0);
  const isShort = announced > 0 && announced <= SHORT_BYTES;
  return isShort ? () => readBody(request, response, SHORT_BYTES, () => {}) : undefined;
}

async function* piecesOf(request: IncomingMessage, response: ServerResponse, bytesMax: number) {
  // Whoever asked first is told to go on when somebody wants the body.
  if (request.headers.expect !== undefined && !response.headersSent) response.writeContinue();
  let length = 0;
  for (;;) {
    const piece: Buffer | null = request.read();
    if (piece !== null) {
      length += piece.length;
      if (length > bytesMax) throw tooLarge(bytesMax);
      yield piece;
    } else if (request.complete && request.readableLength === 0) return;
    else if (request.destroyed) throw brokenOff();
    else await moved(request);
  }
}

const MOVES = ['readable', 'end', 'close', 'error'] as const;

/** Resolves when there is something to read, or nothing more will come. */
function moved(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      for (const name of MOVES) request.off(name, done);
      resolve();
    };
    for (const name of MOVES) request.on(name, done);
  });
}
