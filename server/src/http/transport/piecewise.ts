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
