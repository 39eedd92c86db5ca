import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { globFiles } from './files.js';

/** What is ours to read, show or run: pages, help and messages stand in these. */
const FOLDERS = [
  '.ci',
  'acceptance/src',
  'bench/src',
  'deploy',
  'docker',
  'docs',
  'faults/src',
  'fuzz/src',
  'engine/src',
  'test-servers/src',
  'server/bin',
  'server/migrations',
  'server/src',
  'tools/src',
];
const THIS_FILE = 'tools/src/no-strangers.test.ts';

/**
 * Ways that take a program from the registry when it is not installed. The name of ours belongs to nobody there, so whoever
 * takes it is run by everybody who types such a line outside a checkout.
 */
const FETCHES = [
  'npx',
  'pnpx',
  'bunx',
  'npm (exec|x)',
  '(pnpm|yarn) dlx',
  'npm (i|install|add)',
  'pnpm add',
  'yarn( global)? add',
].map((way) => new RegExp(`\\b${way}( +-\\S+)* +(@strongroom/|strongroom\\b)`));

describe('what is shown to be typed', () => {
  it('never fetches a package that a stranger may have put on the registry under our name', async () => {
    const top = (await readdir('.', { withFileTypes: true })).filter((entry) => entry.isFile()).map(({ name }) => name);
    const files = [...top, ...(await globFiles(FOLDERS, ''))].filter((file) => file !== THIS_FILE);
    assert.ok(files.includes('README.md') && files.includes('docs/operations.md') && files.length > 500);
    const wrong: string[] = [];
    for (const file of files) {
      const lines = (await readFile(file, 'utf8')).split('\n');
      lines.forEach((line, index) => {
        if (FETCHES.some((pattern) => pattern.test(line))) wrong.push(`${file}:${index + 1}: ${line.trim()}`);
      });
    }
    assert.deepEqual(wrong, []);
  });

  it('sees every such form', () => {
    for (const line of [
      'npx strongroom',
      'run `npm exec strongroom`',
      'npm i -g strongroom',
      'yarn dlx @strongroom/x',
    ]) {
      assert.ok(
        FETCHES.some((pattern) => pattern.test(line)),
        line,
      );
    }
  });
});
