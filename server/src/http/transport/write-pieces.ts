import type { ServerResponse } from 'node:http';
import type { EndSignal } from '../../kernel/end-signal.js';
import type { Flow, PieceSink } from '../../kernel/flow.js';
import type { AheadShare } from './ahead.js';
import type { Exchange } from './respond.js';

/** How the writing of an answer ended. */
export type Written = 'whole' | 'given up';

/** When to give up, besides when the client has left. */
export interface Bounds {
  /** Asked between pieces. */
  readonly isOver: () => boolean;
  /** Ends also the waiting for a source that says nothing. */
  readonly signal?: EndSignal;
}

/** Writes pieces no faster than the client takes them, and ends the answer behind the last one. */
export async function writePieces(
  exchange: Exchange,
  pieces: AsyncIterator<Buffer, unknown>,
  first: IteratorResult<Buffer, unknown>,
  { isOver, signal }: Bounds,
): Promise<Written> {
  const { request, response } = exchange;
  const given = signal && whenAborted(signal);
  try {
    for (let piece = first; !piece.done; ) {
      if (!response.write(piece.value)) await drained(exchange, signal);
      if (request.socket.destroyed || isOver()) return 'given up';
      const next = await (given ? Promise.race([pieces.next(), given.up]) : pieces.next());
      if (next === undefined) return 'given up';
      piece = next;
    }
    response.end();
    return 'whole';
  } finally {
    given?.forget();
  }
}

/** The same for pieces that flow. `begin` writes the head, before the first of them; what fails before is thrown before it. */
export async function writeFlow(
  { request, response }: Exchange,
  flow: Flow,
  begin: () => void,
  { isOver, signal }: Bounds,
  ahead: AheadShare,
): Promise<Written> {
  let hasBegun = false;
  const sink: PieceSink = {
    write(piece) {
      if (request.socket.destroyed || isOver()) return false;
      if (!hasBegun) begin();
      hasBegun = true;
      return response.write(piece) || ahead.mayWriteOn(response.writableLength);
    },
    onRoom(goOn) {
      response.once('drain', () => {
        ahead.release();
        goOn();
      });
    },
  };
  const given = signal && whenAborted(signal);
  try {
    const flowing = flow(sink).then((): Written => 'whole');
    // It ends by itself, and nobody waits for it.
    flowing.catch(() => {});
    const written = await (given ? Promise.race([flowing, given.up]) : flowing);
    if (!hasBegun && written === undefined) throw new Error('given up before the first piece');
    if (!hasBegun) begin();
    if (written === undefined) return 'given up';
    response.end();
    return written;
  } finally {
    given?.forget();
    if (response.writableLength === 0) ahead.release();
    // One that waits behind another answer hears nothing of its end but that of the connection.
    else (response.socket === null ? request.socket : response).once('close', ahead.release);
  }
}

/** Resolves when the signal is aborted; one listener for all waiting. */
export function whenAborted(signal: EndSignal): { readonly up: Promise<undefined>; forget(): void } {
  let tell = (): void => {};
  const up = new Promise<undefined>((resolve) => {
    tell = () => resolve(undefined);
  });
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell);
  return { up, forget: () => signal.removeEventListener('abort', tell) };
}

/** A response that waits behind another one hears nothing when its connection closes. */
function drained({ request, response }: Exchange, signal: EndSignal | undefined): Promise<void> {
  const { socket } = request;
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      socket.off('close', done);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    response.once('drain', done);
    socket.once('close', done);
    signal?.addEventListener('abort', done);
    if (socket.destroyed || signal?.aborted) done();
  });
}

/**
 * Writes an answer that leaves in one piece with its head. The platform holds back what is written until the end of the turn; let go
 * here, most of it is out at once, and the end needs no write of its own: two pieces in one call cost a third more than one.
 */
export function writeWhole(response: ServerResponse, body: string | Buffer, encoding: BufferEncoding): void {
  // Held back already, it is not held back until the end of the turn as well.
  response.socket?.cork();
  response.write(body, encoding);
  response.socket?.uncork();
  response.end();
}

/** A long answer leaves in slices, so that it can be seen how much of it the client has taken. */
const SLICE_BYTES = 131_072;

/** True if the text or the bytes are sent in slices; what is shorter goes in one write. */
export function isLong(bytes: number): boolean {
  return bytes > SLICE_BYTES;
}

/** Writes a long answer that is there as a whole. What is not written yet counts in the context. */
export function writeSlices({ request, response, context }: Exchange, content: Buffer): void {
  let at = 0;
  const writeOn = (): void => {
    while (!request.socket.destroyed) {
      const slice = content.subarray(at, at + SLICE_BYTES);
      at += slice.length;
      context.unwrittenBytes = content.length - at;
      if (at >= content.length) {
        response.end(slice);
        return;
      }
      if (response.write(slice)) continue;
      response.once('drain', writeOn);
      return;
    }
  };
  writeOn();
}
