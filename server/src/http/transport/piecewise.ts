import type { Clock } from '../../kernel/clock.js';
import type { Exchange } from './respond.js';

/** Writes items as they stand in a list, one behind the other. */
export type WriteItems = (items: readonly unknown[]) => Buffer;

/**
 * A list whose items are made and sent a few at a time: all of them at once would take too much memory. Each piece is
 * written out where it is made, because what it is made of may take many times as much.
 */
export class PiecewiseList {
  readonly pagination: object;
  readonly pieces: (write: WriteItems) => AsyncIterable<Buffer>;

  constructor(pagination: object, pieces: (write: WriteItems) => AsyncIterable<Buffer>) {
    this.pagination = pagination;
    this.pieces = pieces;
  }
}

const COMMA = ',';
const END = ']}';

/** The text of a list in pieces, by the serialisers of its schema: `writeList` of the empty list, `writeItem` of each. */
export async function* textOfList(
  { pagination, pieces }: PiecewiseList,
  writeList: (list: object) => string,
  writeItem: (item: unknown) => string,
): AsyncGenerator<Buffer, void, void> {
  const empty = writeList({ pagination, data: [] });
  let before = empty.slice(0, -END.length);
  const write: WriteItems = (items) => {
    if (items.length === 0) return Buffer.alloc(0);
    const text = Buffer.from(before + items.map(writeItem).join(COMMA));
    before = COMMA;
    return text;
  };
  for await (const piece of pieces(write)) if (piece.length > 0) yield piece;
  yield Buffer.from(before === COMMA ? END : empty);
}

/** What was decided when the answer began must not hold for a client that stretches it for hours. */
const SENDING_MAX_MS = 300_000;

/** Writes the pieces no faster than the client takes them. True if all of them were written. */
export async function writePieces(
  clock: Clock,
  exchange: Exchange,
  first: IteratorResult<Buffer, void>,
  pieces: AsyncIterator<Buffer, void>,
): Promise<boolean> {
  const { request, response } = exchange;
  const untilMs = clock.monotonicMs() + SENDING_MAX_MS;
  for (let piece = first; !piece.done; piece = await pieces.next()) {
    if (!response.write(piece.value)) await drained(exchange);
    if (request.socket.destroyed || clock.monotonicMs() > untilMs) return false;
  }
  response.end();
  return true;
}

/** A response that waits behind another one hears nothing when its connection closes. */
function drained({ request, response }: Exchange): Promise<void> {
  const { socket } = request;
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    response.once('drain', done);
    socket.once('close', done);
    if (socket.destroyed) done();
  });
}
