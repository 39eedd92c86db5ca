import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { SETTINGS } from '../config.js';

const PAGE = new URL('../../../docs/configuration.md', import.meta.url);
const TABLE_HEAD = ['Setting', 'Default', 'Meaning'];
const NO_DEFAULT = '–';
const EMPTY_DEFAULT = '(empty)';

function shownDefault(fallback: string | undefined): string {
  if (fallback === undefined) return NO_DEFAULT;
  return fallback === '' ? EMPTY_DEFAULT : `\`${fallback}\``;
}

/** The cells of a table row, however it is padded; nothing for any other line. A pipe inside a cell is escaped. */
function cellsOf(line: string): string[] {
  if (!line.startsWith('|')) return [];
  const cells = line.split(/(?<!\\)\|/).slice(1, -1);
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'));
}

/** The rows under the head of the table of settings, up to the first line that is no row. */
function rowsOf(page: string): string[][] {
  const lines = page.split('\n').map(cellsOf);
  const head = lines.findIndex((cells) => cells.join() === TABLE_HEAD.join());
  assert.notEqual(head, -1, `docs/configuration.md has a table with the head ${TABLE_HEAD.join(', ')}`);
  const rest = lines.slice(head + 2);
  const end = rest.findIndex((cells) => cells.length === 0);
  return end === -1 ? rest : rest.slice(0, end);
}

describe('docs/configuration.md', () => {
  let page: string;
  before(async () => {
    page = await readFile(PAGE, 'utf8');
  });

  it('has exactly one row for each setting, in the order of the code, with its default and meaning', () => {
    const expected = Object.values(SETTINGS).map(({ name, fallback, about }) => [
      `\`${name}\``,
      shownDefault(fallback),
      about,
    ]);
    assert.deepEqual(rowsOf(page), expected);
  });

  it('names every secret setting as secret, and no other', () => {
    const [paragraph = ''] = /^Secret: [\s\S]*?\.$/m.exec(page) ?? [];
    const named = [...paragraph.matchAll(/`(STRONGROOM_[A-Z_]+)`/g)].map(([, name]) => name);
    const secret = Object.values(SETTINGS)
      .filter((row) => 'isSecret' in row && row.isSecret)
      .map(({ name }) => name);
    assert.deepEqual(named, secret);
  });

  it('speaks of no setting that does not exist', () => {
    const known = new Set(Object.values(SETTINGS).map(({ name }) => name));
    const spokenOf = [...page.matchAll(/STRONGROOM_[A-Z_]*[A-Z]/g)].map(([name]) => name);
    assert.deepEqual(
      [...new Set(spokenOf)].filter((name) => !known.has(name)),
      [],
    );
  });
});
