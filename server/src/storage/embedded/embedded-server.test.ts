// needs: account, processes

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { access, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { exits, lastFirst, query, spawnHolder, startFor, temporaryFolder } from './embedded-fixture.js';
import { startEmbeddedServer } from './embedded-server.js';
import { findRunningServer } from './running-server.js';

const IN_NETWORK_NAMESPACE = [
  'unshare',
  '--net',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']),
];
const hasNetworkNamespaces = spawnSync('/usr/bin/env', [...IN_NETWORK_NAMESPACE, 'true']).status === 0;

const SETTINGS_EXPECTED = {
  data_checksums: 'on',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  listen_addresses: '',
  unix_socket_permissions: '0700',
  timezone: 'UTC',
  log_statement: 'none',
  work_mem: '5MB',
};

test('a new folder becomes a private database, and a committed row is there after a restart', async (t) => {
  const defer = lastFirst(t);
  const dataDir = join(await temporaryFolder(defer), 'new', 'data');
  const first = await startFor(defer, dataDir);
  assert.deepEqual(await query(first, 'SHOW server_encoding'), [['UTF8']]);
  await query(first, 'CREATE TABLE kept AS SELECT 7 AS n');
  assert.equal((await stat(first.socketDir)).mode & 0o777, 0o700);
  assert.equal((await stat(dataDir)).mode & 0o767, 0o700);
  await first.stop();
  await first.stop();
  const second = await startFor(defer, dataDir);
  assert.deepEqual(await query(second, 'SELECT n FROM kept'), [[7]]);
});

test('a running server', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const server = await startFor(defer, dataDir, { command: 'strongroom serve', log, settings: { work_mem: '5MB' } });

  await t.test('is durable, off the network and checks its pages', async () => {
    for (const [name, value] of Object.entries(SETTINGS_EXPECTED)) {
      assert.deepEqual(await query(server, `SHOW ${name}`), [[value]], name);
    }
  });

  const skip = !hasNetworkNamespaces && 'network namespaces are not allowed here';
  await t.test('is left alone from another network namespace, where the lock is not seen', { skip }, async () => {
    const other = await spawnHolder(defer, dataDir, IN_NETWORK_NAMESPACE);
    assert.match(other.firstLine, new RegExp(`process ${process.pid} \\(strongroom serve, `));
    assert.deepEqual(await query(server, 'SELECT 1'), [[1]]);
  });

  await t.test('makes a second start fail with 73, which names the holder and leaves it working', async () => {
    const refused = exits('dataFolderInUse', new RegExp(`process ${process.pid} \\(strongroom serve, `));
    await assert.rejects(startFor(defer, dataDir), refused);
    await assert.rejects(startFor(defer, `${dataDir}/../${basename(dataDir)}`), refused);
    assert.deepEqual(await query(server, 'SELECT 1'), [[1]]);
  });

  await t.test('is found by a command beside it', async () => {
    const { socketDir, port, ownerRole, database, pid } = server;
    assert.deepEqual(await findRunningServer(dataDir), { socketDir, port, ownerRole, database, pid });
    assert.equal(await findRunningServer(join(dataDir, 'missing')), null);
  });

  await t.test('keeps what a client sends out of its log, even when a statement fails', async () => {
    await query(server, "CREATE TABLE once (secret text PRIMARY KEY); INSERT INTO once VALUES ('hunter2')");
    await assert.rejects(query(server, "INSERT INTO once VALUES ('hunter2')"), { code: '23505' });
    await assert.rejects(query(server, "SELECT 'hunter2'::uuid"), { code: '22P02' });
    await query(server, "DO $$ BEGIN RAISE WARNING 'hunter2'; END $$");
  });

  await t.test('stops without reporting an exit, is found no more and leaves no lock', async () => {
    let reports = 0;
    server.onExit(() => {
      reports += 1;
    });
    await server.stop();
    assert.equal(reports, 0);
    assert.equal(await findRunningServer(dataDir), null);
    await assert.rejects(access(join(dataDir, 'lock.json')), { code: 'ENOENT' });
    assert.match(lines.join('\n'), /ready to accept connections/);
    assert.doesNotMatch(lines.join('\n'), /hunter2/);
  });
});

test('73 for all but one of many that start a new folder at once', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const log = () => {};
  const starts = [1, 2, 3].map((n) => startEmbeddedServer({ dataDir, command: `start ${n}`, log }));
  const outcomes = await Promise.allSettled(starts);
  const started = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
  for (const server of started) defer(() => server.stop());
  assert.equal(started.length, 1);
  for (const reason of refused) assert.ok(exits('dataFolderInUse', /process \d+ \(start \d/)(reason), String(reason));
});
