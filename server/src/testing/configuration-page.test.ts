import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { SETTINGS } from '../config.js';
import { withSettings } from './configuration-page.js';
import { readPage, rowsUnder } from './page-tables.js';

const PAGE = 'docs/configuration.md';
const TABLE_HEAD = ['Setting', 'Values', 'Default', 'Meaning'];

describe(PAGE, () => {
  let page: string;
  before(async () => {
    page = await readPage(PAGE);
  });

  it('is what npm run configuration-page writes from the settings of the code', () => {
    assert.equal(page, withSettings(page));
  });

  it('has exactly one row for each setting, in the order of the code', () => {
    const expected = Object.values(SETTINGS).map(({ name }) => `\`${name}\``);
    assert.deepEqual(
      rowsUnder(page, TABLE_HEAD).map(([name]) => name),
      expected,
    );
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
