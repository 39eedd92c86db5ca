// needs: processes

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { HANGS_MS } from '../../testing/eventually.js';
import { findBinaries } from './binaries.js';
import { chooseAccount } from './choose-account.js';
import { findClusterProcesses } from './cluster-processes.js';
import { openDataFolder } from './data-folder.js';
import {
  exits,
  type HoldingProcess,
  lastFirst,
  query,
  spawnHolder,
  startFor,
  temporaryFolder,
} from './embedded-fixture.js';
import { postmasterFilePath } from './postmaster-file.js';
import { findRunningServer } from './running-server.js';
import { launchServer } from './server-process.js';
import { serverSettings } from './server-settings.js';
import { makeSocketFolder } from './socket-folder.js';
import { until } from './until.js';

async function kill(holder: HoldingProcess): Promise<void> {
  const isDead = once(holder.process, 'exit');
  holder.process.kill('SIGKILL');
  await isDead;
}

test('a folder that has seen trouble', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const cluster = join(dataDir, 'postgres');

  await t.test('69 with the last words of a server that does not start, and the folder is free again', async () => {
    const settings = { no_such_setting: '1' };
    await assert.rejects(startFor(defer, dataDir, { settings }), exits('unavailable', /no_such_setting/));
    await assert.rejects(access(join(dataDir, 'lock.json')), { code: 'ENOENT' });
  });

  await t.test('the server goes away by itself when its parent is killed', async () => {
    const holder = await spawnHolder(defer, dataDir);
    assert.equal(holder.firstLine, 'ready');
    assert.notDeepEqual(await findClusterProcesses(cluster), []);
    await kill(holder);
    const isGone = await until(HANGS_MS, async () => {
      const pids = await findClusterProcesses(cluster);
      return pids.length === 0 ? true : undefined;
    });
    assert.ok(isGone);
  });

  await t.test('a start at once after that works and has the committed row', async () => {
    const holder = await spawnHolder(defer, dataDir);
    const running = await findRunningServer(dataDir);
    assert.ok(running, holder.firstLine);
    await query(running, 'CREATE TABLE kept AS SELECT 1 AS n');
    await kill(holder);
    const server = await startFor(defer, dataDir);
    assert.notEqual(server.pid, running.pid);
    assert.deepEqual(await query(server, 'SELECT n FROM kept'), [[1]]);
    await server.stop();
  });

  await t.test('a server that nobody holds any more is stopped cleanly by the next start', async () => {
    const folder = await openDataFolder(dataDir);
    const binaries = await findBinaries(folder, undefined);
    const account = await chooseAccount(folder, binaries, []);
    const settings = serverSettings(await makeSocketFolder(folder, account));
    const program = { path: binaries.postgres, args: ['-D', cluster, ...settings], libraries: binaries.libraries };
    const leftOver = await launchServer(account, program, cluster, () => {});
    const server = await startFor(defer, dataDir);
    assert.match(await leftOver.ended, /ended \(exit code 0\)/);
    assert.deepEqual(await query(server, 'SELECT 1'), [[1]]);
    await server.stop();
  });

  await t.test('a killed server is reported, and the next start replays the committed row', async () => {
    const server = await startFor(defer, dataDir);
    await query(server, 'CREATE TABLE replayed AS SELECT 2 AS n');
    const reason = new Promise<string>((resolve) => server.onExit(resolve));
    process.kill(server.pid, 'SIGKILL');
    assert.match(await reason, /ended \(signal SIGKILL\)/);
    await server.stop();
    const next = await startFor(defer, dataDir);
    assert.deepEqual(await query(next, 'SELECT n FROM replayed'), [[2]]);
    await next.stop();
  });

  await t.test('a stranger with the number of a dead server is neither signalled nor in the way', async () => {
    // Of the server's own account, because PostgreSQL itself passes over any other.
    const { uid } = await stat(cluster);
    // Working in the cluster's folder, as an operator's shell might.
    const stranger = spawn('sleep', ['60'], { stdio: 'ignore', cwd: cluster, uid });
    defer(() => stranger.kill());
    const stale = `${stranger.pid}\n${cluster}\n1\n5432\n${join(dataDir, 'run')}\n\n\nready\n`;
    await writeFile(postmasterFilePath(cluster), stale);
    const server = await startFor(defer, dataDir);
    assert.deepEqual(await query(server, 'SELECT 1'), [[1]]);
    assert.equal(stranger.exitCode ?? stranger.signalCode, null);
    await server.stop();
  });
});
