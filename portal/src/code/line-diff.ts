export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
  /** Its number in the text before, and in the one after. */
  readonly before: number | undefined;
  readonly after: number | undefined;
}

/** Past this many cells the table of common lines takes longer than anybody waits; what is between is then shown as replaced. */
const CELLS_MAX = 4_000_000;

/** What has to be done to the lines of one text to have those of another: the fewest lines removed and added. */
export function diffLines(before: string, after: string): readonly DiffLine[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const [middleA, middleB] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const same = (at: number, shift: number): DiffLine => ({
    ...{ kind: 'same', text: a[at] ?? '', before: at + 1, after: at + 1 + shift },
  });
  return [
    ...a.slice(0, start).map((_, at) => same(at, 0)),
    ...betweenLines(middleA, middleB, start),
    ...a.slice(a.length - end).map((_, at) => same(a.length - end + at, b.length - a.length)),
  ];
}

function betweenLines(a: readonly string[], b: readonly string[], start: number): readonly DiffLine[] {
  const lengths = a.length * b.length > CELLS_MAX ? undefined : commonLengths(a, b);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  const at = (x: number, y: number) => lengths?.[x * (b.length + 1) + y] ?? 0;
  while (i < a.length || j < b.length) {
    const [before, after] = [start + i + 1, start + j + 1];
    if (lengths && i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: 'same', text: a[i] ?? '', before, after });
      [i, j] = [i + 1, j + 1];
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'removed', text: a[i] ?? '', before, after: undefined });
      i += 1;
    } else {
      lines.push({ kind: 'added', text: b[j] ?? '', before: undefined, after });
      j += 1;
    }
  }
  return lines;
}

/** For every pair of places how many lines the rests behind them have in common, in order. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
    }
  }
  return lengths;
}
