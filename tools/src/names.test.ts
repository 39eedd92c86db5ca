import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { globFiles } from './files.js';

const EXPORT = /^export (?:abstract |async )*(?:function\*?|const|class|interface|type) (\w+)/gm;

/** The same thing of every slice, under the same name. */
const OF_EVERY_SLICE = new Set(['trial']);

describe('no two files of a workspace export the same name: each means one thing', () => {
  for (const workspace of ['server', 'acceptance', 'faults', 'fuzz', 'bench', 'engine', 'test-servers', 'tools']) {
    it(workspace, async () => {
      const files = (await globFiles([`${workspace}/src`], '.ts')).filter((file) => !file.endsWith('.test.ts'));
      const exporters = new Map<string, Set<string>>();
      for (const file of files) {
        for (const [, name = ''] of (await readFile(file, 'utf8')).matchAll(EXPORT)) {
          exporters.set(name, (exporters.get(name) ?? new Set()).add(file));
        }
      }
      assert.ok(exporters.size > 10, 'the exports were found');
      const twice = [...exporters].filter(([name, { size }]) => size > 1 && !OF_EVERY_SLICE.has(name));
      assert.deepEqual(
        twice.map(([name, found]) => `${name}: ${[...found].join(', ')}`),
        [],
      );
    });
  }
});
