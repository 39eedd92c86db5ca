import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NOT_INSTALLED } from '@strongroom/test-servers/find.js';
import { missingPrograms } from './programs.js';
import { describeSkipped } from './skipped.js';
import type { TestFile } from './test-files.js';
import { findTestFiles, groupFiles, readHeader } from './test-files.js';

const file = (source: string, parts: Partial<TestFile> = {}): TestFile => ({
  source,
  compiled: source,
  needs: [],
  isAlone: false,
  isAttack: false,
  ...parts,
});

describe('the header of a test file', () => {
  it('names what the file needs, whether it runs alone and whether it is an attack', () => {
    assert.deepEqual(readHeader('// needs: chromium, openssl\n// alone: it counts descriptors\n\nimport x;'), {
      needs: ['chromium', 'openssl'],
      isAlone: true,
      isAttack: false,
    });
    assert.deepEqual(readHeader('// needs: processes\n// attack: kills servers\n\nimport x;'), {
      needs: ['processes'],
      isAlone: false,
      isAttack: true,
    });
  });

  it('ends with the first statement', () => {
    assert.deepEqual(readHeader('import x;\n// needs: chromium\n'), { needs: [], isAlone: false, isAttack: false });
  });

  it('names only programs that can be looked for, in every file of the repository', async () => {
    const files = await findTestFiles();
    assert.ok(files.length > 400, `${files.length} files`);
    for (const { needs } of files) missingPrograms(needs);
    assert.throws(() => missingPrograms(['chrome']), /no program is named chrome; there are: processes, /);
  });
});

describe('groups of test files', () => {
  it('hold files of one package up to the limit; a file that runs alone has one to itself and comes first', () => {
    const files = [
      file('server/src/a.test.ts'),
      file('server/src/b.test.ts', { isAlone: true }),
      file('server/src/c.test.ts'),
      file('server/src/d.test.ts'),
      file('tools/src/e.test.ts'),
    ];
    const groups = groupFiles(files, 2).map((group) => group.map(({ source }) => source.slice(-9, -8)).join(''));
    assert.deepEqual(groups, ['b', 'ac', 'd', 'e']);
  });

  it('keep files that start programs apart from those that may not', () => {
    const groups = groupFiles(
      [file('server/src/a.test.ts'), file('server/src/b.test.ts', { needs: ['processes'] })],
      2,
    );
    assert.equal(groups.length, 2);
  });
});

describe('what was skipped', () => {
  const skipped = (reason: string) => ({ file: 'a.test.ts', name: 'one', outcome: 'skipped', reason }) as const;
  const tests = [skipped(`openssl${NOT_INSTALLED}`), skipped(`curl${NOT_INSTALLED}`), skipped('not root')];
  const files = [{ file: file('b.test.ts'), missing: ['chromium', 'curl'] }];

  it('is one line, with each program once', () => {
    assert.equal(
      describeSkipped({ tests, files, lists: false }),
      '1 test file and 3 tests skipped: chromium, curl, openssl not installed; not root; `npm run test:all` lists them\n',
    );
  });

  it('is a line for each before that one, where they are listed', () => {
    const lines = describeSkipped({ tests, files, lists: true }).split('\n');
    assert.equal(lines.length, 6);
    assert.deepEqual(
      [lines[0], lines[1]],
      ['skipped b.test.ts (chromium, curl not installed)', 'skipped a.test.ts: one (openssl not installed)'],
    );
  });

  it('is no line where all ran', () => {
    assert.equal(describeSkipped({ tests: [], files: [], lists: true }), '');
  });
});
