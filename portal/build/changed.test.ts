// needs: processes

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { buildWhereChanged } from './changed.js';
import { SITE, STAMP } from './paths.js';

describe('the build of the Portal', () => {
  let folder: string;
  let made: number;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-portal-build-'));
    made = 0;
    await mkdir(join(folder, 'src/pages'), { recursive: true });
    await writeFile(join(folder, 'src/pages/one.tsx'), 'one');
    await writeFile(join(folder, 'index.html'), '<html>');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const count = async () => {
    made += 1;
  };
  const build = (make = count) =>
    buildWhereChanged({ folder, sources: ['src', 'index.html'], stamp: join(folder, 'made-from'), make });

  it('does nothing a second time, and says so', async () => {
    assert.equal(await build(), 'made');
    assert.equal(await build(), 'unchanged');
    assert.equal(made, 1);
  });

  it('is done anew when a source is changed, added, renamed or removed', async () => {
    await build();
    const changes = [
      () => writeFile(join(folder, 'src/pages/one.tsx'), 'two'),
      () => writeFile(join(folder, 'index.html'), '<html lang="en">'),
      () => writeFile(join(folder, 'src/more.ts'), ''),
      () => rm(join(folder, 'src/more.ts')).then(() => writeFile(join(folder, 'src/other.ts'), '')),
      () => rm(join(folder, 'src/other.ts')),
    ];
    for (const [at, change] of changes.entries()) {
      await change();
      assert.equal(await build(), 'made', `change ${at}`);
      assert.equal(await build(), 'unchanged', `change ${at}`);
    }
    assert.equal(made, 1 + changes.length);
  });

  it('is kept when the checkout is moved', async () => {
    await build();
    const moved = `${folder}-moved`;
    await rename(folder, moved);
    folder = moved;
    assert.equal(await build(), 'unchanged');
  });

  it('is done anew after one that failed', async () => {
    await build();
    await writeFile(join(folder, 'index.html'), 'broken');
    await assert.rejects(
      build(() => Promise.reject(new Error('no'))),
      /no/,
    );
    await writeFile(join(folder, 'index.html'), '<html>');
    assert.equal(await build(), 'made', 'also with the sources of the one before it, whose files may be gone');
  });

  it('leaves the files of this checkout as they are when it is run again', async () => {
    const page = join(SITE, 'index.html');
    const [before, stamp] = [await stat(page), await readFile(STAMP, 'utf8')];
    await promisify(execFile)(process.execPath, [fileURLToPath(new URL('./build.js', import.meta.url))]);
    const after = await stat(page);
    assert.deepEqual([after.ino, after.mtimeMs], [before.ino, before.mtimeMs]);
    assert.equal(await readFile(STAMP, 'utf8'), stamp);
  });
});
