// needs: account, processes

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { access, chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { exits, lastFirst, query, startFor, temporaryFolder } from './embedded-fixture.js';
import { findRunningServer } from './running-server.js';

const isRoot = process.getuid?.() === 0;
const hasUserNamespaces = spawnSync('unshare', ['--user', '--map-user=1', '--map-group=1', 'true']).status === 0;

test('a half-made database is removed and never used, also in a path with commas, quotes and spaces', async (t) => {
  const defer = lastFirst(t);
  const dataDir = join(await temporaryFolder(defer), `a, "b" 'c'`);
  await mkdir(join(dataDir, 'postgres.new-abc', 'base'), { recursive: true });
  await writeFile(join(dataDir, 'postgres.new-abc', 'PG_VERSION'), '18\n');
  const server = await startFor(defer, dataDir);
  assert.deepEqual(await query(server, 'SELECT current_database()'), [['strongroom']]);
  assert.ok(!(await readdir(dataDir)).includes('postgres.new-abc'));
});

test('78 for a folder that holds something else, which is left as it was', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'notes.txt'), 'mine');
  await assert.rejects(startFor(defer, dataDir), exits('configuration', /not a PostgreSQL database/));
  assert.equal(await readFile(join(dataDir, 'postgres', 'notes.txt'), 'utf8'), 'mine');
});

test('78 for a database of another major version', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '12\n');
  await assert.rejects(startFor(defer, dataDir), exits('configuration', /made by PostgreSQL 12, .* is PostgreSQL 18/));
});

test('78 for programs that are not there, and for a data folder that is a file', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  await assert.rejects(startFor(defer, dataDir, { binDir: join(dataDir, 'bin') }), exits('configuration', /initdb/));
  await writeFile(join(dataDir, 'file'), '');
  await assert.rejects(startFor(defer, join(dataDir, 'file')), exits('configuration', /STRONGROOM_DATA_DIR/));
});

test('a path too long for a socket works, with commas, quotes and spaces in it', async (t) => {
  const defer = lastFirst(t);
  const dataDir = join(await temporaryFolder(defer), `a, "b" 'c' ${'long'.repeat(30)}`);
  const server = await startFor(defer, dataDir);
  assert.deepEqual(await query(server, 'SELECT 1'), [[1]]);
  assert.equal((await stat(server.socketDir)).mode & 0o777, 0o700);
  assert.equal((await findRunningServer(dataDir))?.socketDir, server.socketDir);
  await server.stop();
  await assert.rejects(access(server.socketDir), { code: 'ENOENT' });
});

const needsRoot = isRoot ? (hasUserNamespaces ? false : 'user namespaces are not allowed here') : 'not root';

test('root: a closed home, then an open one, then a closed one hold the same database', {
  skip: needsRoot,
}, async (t) => {
  const defer = lastFirst(t);
  const home = await temporaryFolder(defer);
  for (const [mode, round] of [
    [0o700, 1],
    [0o711, 2],
    [0o700, 3],
  ] as const) {
    await chmod(home, mode);
    const server = await startFor(defer, join(home, 'data'));
    await query(server, round === 1 ? 'CREATE TABLE kept AS SELECT 0 AS n' : 'UPDATE kept SET n = n + 1');
    assert.deepEqual(await query(server, 'SELECT n FROM kept'), [[round - 1]]);
    const status = await readFile(`/proc/${server.pid}/status`, 'utf8');
    assert.match(status, /^Groups:\s*$/m);
    assert.match(status, /^CapEff:\s*0+$/m);
    await server.stop();
  }
});

test('78 for an ordinary user in the folder of another', { skip: isRoot && 'root may enter any folder' }, async (t) => {
  const defer = lastFirst(t);
  await assert.rejects(startFor(defer, '/'), exits('configuration', /STRONGROOM_DATA_DIR/));
});
