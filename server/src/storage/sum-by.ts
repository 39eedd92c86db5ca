interface Sum<Row> {
  readonly row: Row;
  sum: number;
}

/** With so many kinds each row is compared, which takes less time than making its key; batches mostly have two or three. */
const COMPARED_MAX = 8;

/**
 * One row a key, with the sum of its figures, in the order of the keys: every writer then takes its locks in that order. Rows that
 * `isSame` says are the same must have the same key.
 */
export function sumBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  figureOf: (row: Row) => number,
  isSame: (a: Row, b: Row) => boolean = Object.is,
): { readonly row: Row; readonly sum: number }[] {
  const compared: Sum<Row>[] = [];
  const sums = new Map<string, Sum<Row>>();
  for (const row of rows) {
    const known = sameIn(compared, row, isSame) ?? sums.get(keyOf(row));
    if (known) {
      known.sum += figureOf(row);
      continue;
    }
    const first = { row, sum: figureOf(row) };
    sums.set(keyOf(row), first);
    if (compared.length < COMPARED_MAX) compared.push(first);
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, summed]) => summed);
}

function sameIn<Row>(compared: readonly Sum<Row>[], row: Row, isSame: (a: Row, b: Row) => boolean) {
  for (const known of compared) if (isSame(known.row, row)) return known;
  return undefined;
}
