import type { Exchange } from './respond.js';

/** A list whose items are made and sent a few at a time: all of them at once would take too much memory. */
export class PiecewiseList {
  readonly pagination: object;
  readonly pieces: AsyncIterable<readonly unknown[]>;

  constructor(pagination: object, pieces: AsyncIterable<readonly unknown[]>) {
    this.pagination = pagination;
    this.pieces = pieces;
  }
}

const END = ']}';

/** The text of a list in pieces, by the serialisers of its schema: `writeList` of the empty list, `writeItem` of each. */
export async function* textOfList(
  { pagination, pieces }: PiecewiseList,
  writeList: (list: object) => string,
  writeItem: (item: unknown) => string,
): AsyncGenerator<Buffer, void, void> {
  const empty = writeList({ pagination, data: [] });
  let before = empty.slice(0, -END.length);
  for await (const items of pieces) {
    if (items.length === 0) continue;
    yield Buffer.from(before + items.map(writeItem).join(','));
    before = ',';
  }
  yield Buffer.from(before === ',' ? END : empty);
}

/** Writes the pieces no faster than the client takes them. True if all of them were written. */
export async function writePieces(
  exchange: Exchange,
  first: IteratorResult<Buffer, void>,
  pieces: AsyncIterator<Buffer, void>,
): Promise<boolean> {
  const { request, response } = exchange;
  for (let piece = first; !piece.done; piece = await pieces.next()) {
    if (!response.write(piece.value)) await drained(exchange);
    if (request.socket.destroyed) return false;
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
