// needs: account, processes

import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { layOut } from './data-folder.js';
import { type Defer, lastFirst, temporaryFolder } from './embedded-fixture.js';
import { linkLibraries } from './library-links.js';

async function packageWithoutLinks(defer: Defer): Promise<string> {
  const native = join(await temporaryFolder(defer), 'native');
  await mkdir(join(native, 'lib'), { recursive: true });
  await writeFile(join(native, 'lib', 'libx.so.1.2'), 'library');
  const links = ['libx.so', 'libx.so.1'].map((name) => ({
    source: 'native/lib/libx.so.1.2',
    target: `native/lib/${name}`,
  }));
  await writeFile(join(native, 'pg-symlinks.json'), JSON.stringify(links));
  return native;
}

test('links that are missing are made, by several at once and again', async (t) => {
  const defer = lastFirst(t);
  const native = await packageWithoutLinks(defer);
  const folder = layOut(await temporaryFolder(defer));
  await Promise.all([1, 2, 3, 4].map(() => linkLibraries(native, folder)));
  assert.equal(await linkLibraries(native, folder), undefined);
  assert.equal(await readlink(join(native, 'lib', 'libx.so.1')), 'libx.so.1.2');
  assert.equal(await readFile(join(native, 'lib', 'libx.so'), 'utf8'), 'library');
});

const isRefused = process.platform !== 'linux' || process.getuid?.() === 0;

test('links go into the data folder when the package may not be written', {
  skip: isRefused && 'needs Linux and a user whom a mode stops',
}, async (t) => {
  const defer = lastFirst(t);
  const native = await packageWithoutLinks(defer);
  await chmod(join(native, 'lib'), 0o555);
  defer(() => chmod(join(native, 'lib'), 0o755));
  const folder = layOut(await temporaryFolder(defer));
  const searchPath = `${folder.libraries}:${join(native, 'lib')}`;
  for (const round of [1, 2]) assert.equal(await linkLibraries(native, folder), searchPath, `round ${round}`);
  assert.equal(await readFile(join(folder.libraries, 'libx.so.1'), 'utf8'), 'library');
});
