/** One row a key, with the sum of its figures, in the order of the keys: every writer then takes its locks in that order. */
export function sumBy<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  figureOf: (row: Row) => number,
): { readonly row: Row; readonly sum: number }[] {
  const sums = new Map<string, { row: Row; sum: number }>();
  for (const row of rows) {
    const key = keyOf(row);
    const known = sums.get(key);
    if (known) known.sum += figureOf(row);
    else sums.set(key, { row, sum: figureOf(row) });
  }
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, summed]) => summed);
}
