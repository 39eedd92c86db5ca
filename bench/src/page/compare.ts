import type { Findings, Table } from './results.js';

/** The tables of a part with the figures of an earlier run beside those of now; rows and tables that only one has are left out. */
export function compareTables(earlier: Findings, now: Findings): Table[] {
  return now.tables.flatMap((table, at) => {
    const old = earlier.tables[at];
    if (old === undefined || old.head.join() !== table.head.join()) return [];
    const oldRows = new Map(old.rows.map((row) => [keyOf(row), row]));
    const rows = table.rows.flatMap((row) => {
      const oldRow = oldRows.get(keyOf(row));
      return oldRow === undefined ? [] : [row.map((cell, column) => compared(oldRow[column] ?? '', cell))];
    });
    return rows.length === 0 ? [] : [{ title: `${table.title}: earlier -> now`, head: table.head, rows }];
  });
}

/** What a row is about: its words before the first figure. */
function keyOf(row: readonly string[]): string {
  const first = row.findIndex((cell) => figureIn(cell) !== undefined);
  return JSON.stringify(first === -1 ? row : row.slice(0, Math.max(1, first)));
}

function compared(old: string, now: string): string {
  const [before, after] = [figureIn(old), figureIn(now)];
  if (before === undefined || after === undefined) return now;
  const change = Number(before) === 0 ? '' : ` (${percent(Number(after) / Number(before) - 1)})`;
  return `${before} -> ${after}${change}`;
}

/** The number a cell begins with; the spread of the rounds behind it does not count. */
function figureIn(cell: string): string | undefined {
  return /^-?\d+(\.\d+)?/.exec(cell)?.[0];
}

function percent(share: number): string {
  const rounded = Math.round(share * 100);
  return `${rounded > 0 ? '+' : ''}${rounded} %`;
}
