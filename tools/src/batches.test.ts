import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { batchesOf, isSharing } from './batches.js';
import { globFiles } from './files.js';

describe('test files that share a process', () => {
  it('are of one room, and a few', () => {
    const files = Array.from({ length: 8 }, (_, n) => `server/dist/resources/tokens/${n}.test.js`);
    const batches = batchesOf([
      ...files,
      'server/dist/resources/logs/a.test.js',
      'server/dist/resources/logs/x/b.test.js',
    ]);
    assert.deepEqual(batches, [
      files.slice(0, 6),
      files.slice(6),
      ['server/dist/resources/logs/a.test.js', 'server/dist/resources/logs/x/b.test.js'],
    ]);
  });

  it('are none that watch or start processes', () => {
    const files = [
      'server/dist/commands/a.test.js',
      'server/dist/commands/b.test.js',
      'server/dist/http/transport/a.test.js',
      'server/dist/http/transport/b.test.js',
      'tools/dist/a.test.js',
      'tools/dist/b.test.js',
    ];
    assert.deepEqual(
      batchesOf(files),
      files.map((file) => [file]),
    );
  });

  it('have no hooks outside of their suites, which would run for those of others', async () => {
    const files = (await globFiles(['server/dist'], '.test.js')).filter(isSharing);
    assert.ok(files.length > 100, `${files.length} files share`);
    for (const file of files) {
      assert.doesNotMatch(await readFile(file, 'utf8'), /^(before|after|beforeEach|afterEach)\(/m, file);
    }
  });
});
