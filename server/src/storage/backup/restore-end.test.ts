// needs: PostgreSQL packages

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type { TcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { startTcpProxy } from '@strongroom/test-servers/tcp-proxy.js';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { newId } from '../../kernel/ids.js';
import { Secret } from '../../kernel/secret.js';
import { ANY_SEAL } from '../../testing/any-seal.js';
import { startMigratedServer } from '../../testing/migrated-server.js';
import { backUp } from './back-up.js';
import { checkBackup, restore } from './restore.js';

const USERS = 5;

suite('the end of a restore', () => {
  let server: PostgresServer;
  let proxy: TcpProxy;
  let folder: string;
  before(async () => {
    server = await startMigratedServer();
    proxy = await startTcpProxy(server.port);
    folder = join(await mkdtemp(join(tmpdir(), 'sr-restore-')), 'backup');
    const client = await server.connect();
    for (let n = 0; n < USERS; n += 1) {
      await client.query('INSERT INTO users (id, created_at) VALUES ($1, now())', [newId()]);
    }
    await client.end();
    await backUp({
      owner: { url: new Secret(server.url('owner')) },
      folder,
      productVersion: 'test',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
      onProgress: () => {},
      shouldStop: () => false,
    });
  });
  after(async () => {
    await proxy.close();
    await server.remove();
    await rm(join(folder, '..'), { recursive: true, force: true });
  });

  async function createDatabase(name: string): Promise<void> {
    const superuser = await server.connect();
    await superuser.query(`CREATE DATABASE ${name} OWNER strongroom_owner`);
    await superuser.end();
  }

  test('0 for both with an owner address of several hosts of which the first is gone', async () => {
    await createDatabase('several_hosts');
    const gone = await startTcpProxy(server.port);
    const several = (database?: string) => ({
      url: new Secret(server.url('owner', database).replace(/@([^/]+)\//, `@127.0.0.1:${gone.port},$1/`)),
    });
    await gone.close();
    const watch = { onProgress: () => {}, shouldStop: () => false };
    const other = join(folder, '..', 'of-several');
    const manifest = await backUp({
      owner: several(),
      folder: other,
      productVersion: 'test',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
      ...watch,
    });
    const migration = { owner: several('several_hosts'), login: 'strongroom', createLogin: false };
    await restore({ migration, folder: other, manifest, ...watch });
    assert.equal(await usersIn('several_hosts'), USERS);
  });

  /** Restores into a new database, over a way that breaks with these words on it, once `after` has gone before them. */
  async function restoreCutAt(database: string, words: string, after = ''): Promise<string> {
    await createDatabase(database);
    const ready = new Set<number>();
    proxy.setHook((link, direction, chunk) => {
      if (direction !== 'up') return 'pass';
      if (chunk.includes(after)) ready.add(link.id);
      if (!ready.has(link.id) || !chunk.includes(words)) return 'pass';
      return { deliver: chunk.length, after: 'reset' };
    });
    const url = new Secret(server.url('owner', database, proxy.port));
    const told = await restore({
      migration: { owner: { url }, login: 'strongroom', createLogin: false },
      folder,
      manifest: await checkBackup(folder, ANY_SEAL.checkSeal, () => {}),
      onProgress: () => {},
      shouldStop: () => false,
    }).then(
      () => assert.fail('it cannot have ended well'),
      (error: unknown) => error,
    );
    proxy.setHook(undefined);
    assert.ok(told instanceof ExitError && told.exitCode === EXIT.unavailable);
    return told.message;
  }

  async function usersIn(database: string): Promise<number> {
    const client = await server.connect(database);
    try {
      return (await client.query('SELECT id FROM users')).rows.length;
    } finally {
      await client.end();
    }
  }

  test('69 that says everything was restored when the connection breaks after the commit, and so it is', async () => {
    const told = await restoreCutAt('after_commit', 'ANALYZE\0');
    assert.match(told, /^Everything was restored/);
    assert.doesNotMatch(told, /Nothing was/);
    assert.equal(await usersIn('after_commit'), USERS);
  });

  test('69 that says all or nothing when the connection breaks inside the commit, and so it is', async () => {
    const told = await restoreCutAt('inside_commit', 'COMMIT\0', 'COPY "users"');
    assert.match(told, /all of it was kept, or nothing/);
    assert.ok([0, USERS].includes(await usersIn('inside_commit')));
  });
});
