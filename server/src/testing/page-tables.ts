import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';

export function readPage(page: string): Promise<string> {
  return readFile(new URL(`../../../${page}`, import.meta.url), 'utf8');
}

/** The rows of the one table with this head, each as its cells. */
export function rowsUnder(page: string, head: readonly string[]): string[][] {
  const lines = page.split('\n').map(cellsOf);
  const at = lines.findIndex((cells) => cells.join() === head.join());
  assert.notEqual(at, -1, `the page has a table with the head ${head.join(', ')}`);
  const rest = lines.slice(at + 2);
  const end = rest.findIndex((cells) => cells.length === 0);
  return end === -1 ? rest : rest.slice(0, end);
}

/** The cells of a table row, however it is padded; nothing for any other line. A pipe inside a cell is escaped. */
function cellsOf(line: string): string[] {
  if (!line.startsWith('|')) return [];
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** What stands between a cell's backticks; the cell itself where it has none. */
export function quoted(cell: string): string {
  return /^`(.*)`$/.exec(cell)?.[1] ?? cell;
}
