import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import type { Source } from './sources.js';
import { isTest, readSources } from './sources.js';

describe('settings are declared by their rooms', () => {
  let product: Source[];
  let declarations: Source[];
  before(async () => {
    product = (await readSources()).filter(({ path }) => !isTest(path));
    declarations = product.filter(({ path }) => path === 'config.ts' || path.endsWith('/settings.ts'));
    assert.ok(declarations.length > 5, 'the declarations were found');
  });

  it('config.ts gathers the declarations of every room', () => {
    const gathered = product.find(({ path }) => path === 'config.ts')?.imports ?? [];
    const forgotten = declarations.map(({ path }) => path).filter((path) => path !== 'config.ts');
    assert.deepEqual(
      forgotten.filter((path) => !gathered.includes(path)),
      [],
    );
  });

  it('none is declared elsewhere', () => {
    const wrong = product
      .filter(({ text }) => /\bname: 'STRONGROOM_/.test(text))
      .filter((one) => !declarations.includes(one));
    assert.deepEqual(
      wrong.map(({ path }) => path),
      [],
    );
  });

  it('no two have the same key or the same name: one would hide the other', () => {
    const declared = declarations.flatMap(({ text }) => [
      ...text.matchAll(/^ {2}(\w+): \{\n {4}name: '(STRONGROOM_\w+)'/gm),
    ]);
    assert.ok(declared.length > 30, 'the settings were found');
    for (const column of [1, 2]) {
      const values = declared.map((found) => found[column]);
      assert.deepEqual(
        values.filter((value, at) => values.indexOf(value) !== at),
        [],
      );
    }
  });
});
