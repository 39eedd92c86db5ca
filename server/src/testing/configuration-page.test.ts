import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, describe, it } from 'node:test';
import { SETTINGS } from '../config.js';

const PAGE = new URL('../../../docs/configuration.md', import.meta.url);
const TABLE_HEAD = ['| Setting | Default | Meaning |', '|---|---|---|'];
const NO_DEFAULT = '–';
const EMPTY_DEFAULT = '(empty)';

/** A pipe would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function shownDefault(fallback: string | undefined): string {
  if (fallback === undefined) return NO_DEFAULT;
  return fallback === '' ? EMPTY_DEFAULT : `\`${fallback}\``;
}

/** The rows under the head of the table of settings, up to the first line that is no row. */
function rowsOf(page: string): string[] {
  const lines = page.split('\n');
  const head = lines.indexOf(TABLE_HEAD[0] ?? '');
  assert.notEqual(head, -1, `docs/configuration.md has a table "${TABLE_HEAD[0]}"`);
  assert.equal(lines[head + 1], TABLE_HEAD[1]);
  const rest = lines.slice(head + 2);
  const end = rest.findIndex((line) => !line.startsWith('|'));
  return end === -1 ? rest : rest.slice(0, end);
}

describe('docs/configuration.md', () => {
  let page: string;
  before(async () => {
    page = await readFile(PAGE, 'utf8');
  });

  it('has exactly one row for each setting, in the order of the code, with its default and meaning', () => {
    const expected = Object.values(SETTINGS).map(
      ({ name, fallback, about }) => `| \`${name}\` | ${cell(shownDefault(fallback))} | ${cell(about)} |`,
    );
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
