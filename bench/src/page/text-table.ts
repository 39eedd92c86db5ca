import type { Table } from './results.js';

/** Aligned columns for a terminal. */
export function textTable({ title, head, rows }: Table): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd();
  const rule = line(widths.map((width) => '-'.repeat(width)));
  return `\n${title}\n\n${[line(head), rule, ...rows.map(line)].join('\n')}\n`;
}

/** The same for the page. Columns that are empty throughout are left out. */
export function markdownTable({ head, rows }: Table): string {
  const shown = head.map((_, column) => rows.some((row) => (row[column] ?? '') !== ''));
  const line = (row: readonly string[]): string => `| ${row.filter((_, column) => shown[column]).join(' | ')} |`;
  const rule = `|${head
    .filter((_, column) => shown[column])
    .map((_, column) => (column === 0 ? '---|' : '---:|'))
    .join('')}`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}
