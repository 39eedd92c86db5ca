import { classes } from '../ui/classes.js';
import { numberText } from '../ui/numbers.js';
import type { DiffLine } from './line-diff.js';
import { diffLines } from './line-diff.js';

export interface DiffTableProps {
  /** What the texts are, and which is compared with which. */
  readonly label: string;
  readonly before: string;
  readonly after: string;
}

/** Lines shown around a change. */
const AROUND = 3;
/** More rows than anybody reads make a page slow. */
const ROWS_MAX = 2_000;
const SIGNS = { same: ['', ''], added: ['+', 'added'], removed: ['−', 'removed'] } as const;
const GROUNDS = { same: '', added: 'bg-ok-soft', removed: 'bg-danger-soft' } as const;
const SIGN_COLOURS = { same: '', added: 'text-ok', removed: 'text-danger' } as const;

type Row = DiffLine | { readonly kind: 'gap'; readonly lines: number; readonly before: number };

/** Two texts line by line. A sign and a word say what was done to a line; the colour only repeats it. */
export function DiffTable({ label, before, after }: DiffTableProps) {
  const lines = diffLines(before, after);
  const [added, removed] = (['added', 'removed'] as const).map(
    (kind) => lines.filter((line) => line.kind === kind).length,
  );
  const rows = shownRows(lines);
  return (
    <div className="space-y-2">
      <p className="text-[13px] text-muted">
        {numberText(added ?? 0)} added, {numberText(removed ?? 0)} removed
      </p>
      <div className="overflow-x-auto rounded-lg border border-line">
        <table aria-label={label} className="w-full border-collapse font-mono text-[13px] leading-5">
          <thead className="sr-only">
            <tr>
              <th scope="col">Line before</th>
              <th scope="col">Line after</th>
              <th scope="col">Change</th>
              <th scope="col">Text</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, ROWS_MAX).map((row) => (
              <DiffRow key={`${row.kind} ${row.before} ${'after' in row ? row.after : ''}`} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > ROWS_MAX && (
        <p className="text-[13px] text-muted">{numberText(rows.length - ROWS_MAX)} more lines are not shown.</p>
      )}
    </div>
  );
}

function DiffRow({ row }: { readonly row: Row }) {
  if (row.kind === 'gap') {
    return (
      <tr className="bg-sunken text-muted">
        <td colSpan={4} className="px-3 py-1 font-sans text-xs">
          {numberText(row.lines)} {row.lines === 1 ? 'line' : 'lines'} unchanged
        </td>
      </tr>
    );
  }
  const [sign, word] = SIGNS[row.kind];
  const number = 'w-10 px-2 text-right align-top text-xs leading-5 text-muted tabular-nums select-none';
  return (
    <tr className={GROUNDS[row.kind]}>
      <td className={classes(number, 'max-sm:hidden')}>{row.before}</td>
      <td className={number}>{row.after ?? ''}</td>
      <td className={classes('w-6 px-1 text-center align-top font-semibold', SIGN_COLOURS[row.kind])}>
        <span aria-hidden>{sign}</span>
        <span className="sr-only">{word}</span>
      </td>
      <td className="py-px pr-3 break-words whitespace-pre-wrap wrap-anywhere">{row.text}</td>
    </tr>
  );
}

/** Unchanged lines only around a change. */
function shownRows(lines: readonly DiffLine[]): readonly Row[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ kind }, at) => {
    if (kind !== 'same') isNear.fill(true, Math.max(0, at - AROUND), at + AROUND + 1);
  });
  const rows: Row[] = [];
  let [gap, gapAt] = [0, 0];
  const closeGap = () => {
    if (gap > 0) rows.push({ kind: 'gap', lines: gap, before: gapAt });
    gap = 0;
  };
  lines.forEach((line, at) => {
    if (isNear[at]) {
      closeGap();
      rows.push(line);
      return;
    }
    if (gap === 0) gapAt = line.before ?? 0;
    gap += 1;
  });
  closeGap();
  return rows;
}
