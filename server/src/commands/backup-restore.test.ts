// needs: processes

import assert from 'node:assert/strict';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findPostgres, unless } from '@strongroom/test-servers/find.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { startPostgres } from '@strongroom/test-servers/postgres.js';
import { generateApiKey } from '../access/api-key.js';
import { permissionsOf } from '../access/permissions.js';
import { generateRootKey } from '../crypto/root-key.js';
import { findRunningServer } from '../storage/embedded/running-server.js';
import type { FilledTenant, View } from '../testing/backup-drill.js';
import {
  assertOneMoment,
  assertWorksOn,
  fillTenant,
  insertOldLogs,
  keepWriting,
  viewOf,
} from '../testing/backup-drill.js';
import type { CommandSettings, Served } from '../testing/command-runner.js';
import { runCommand, serveWith, succeed } from '../testing/command-runner.js';
import { connectAs } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import { makeScratch } from '../testing/transfer.js';

const SECOND_DATABASE = 'second';

describe('the drill: back up beside writers, lose everything, restore, go on', () => {
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let path: (name: string) => string;
  let base: CommandSettings;
  let quiet: FilledTenant;
  let busy: FilledTenant;
  let seen: View;
  /** Tokens of the busy tenant that were acknowledged before the backup began, and until it ended. */
  let acknowledged: { readonly before: readonly string[]; readonly until: ReadonlySet<string> };
  const served: Served[] = [];
  const serve = async (settings: CommandSettings): Promise<Served> => {
    const server = await serveWith(settings);
    served.push(server);
    return server;
  };
  before(async () => {
    scratch = await makeScratch();
    path = (name) => join(scratch.path, name);
    const key = generateApiKey('management').reveal();
    base = { STRONGROOM_ROOT_KEY: generateRootKey().reveal(), STRONGROOM_BOOTSTRAP_API_KEY: key };
    const settings = { ...base, STRONGROOM_DATA_DIR: path('lost') };
    const server = await serve(settings);
    const { stdout: tenantId } = await succeed(settings, 'tenant', 'create', '--name', 'Busy');
    const permissions = permissionsOf('management').flatMap((name) => ['--permission', name]);
    const application = ['application', 'create', '--tenant', tenantId, '--type', 'management', ...permissions];
    busy = await fillTenant(server.call, (await succeed(settings, ...application)).stdout);
    quiet = await fillTenant(server.call, key);
    await insertOldLogsOf(path('lost'), server, key);
    seen = await viewOf(server.call, quiet, true);

    const writing = keepWriting(server.call, busy.privateKey);
    await eventually('writers are at work', () => writing.ids.length > 20);
    const acknowledgedBefore = [...writing.ids];
    const { stdout, stderr } = await succeed(settings, 'backup', '--to', path('backup'));
    assert.match(stdout, /^Backed up \d+ rows of \d+ tables: /);
    assert.match(stderr, /root key is not in the backup\. Keep root key rk-[0-9a-f]{12} safe/);
    assert.ok(!`${stdout}${stderr}`.includes(base.STRONGROOM_ROOT_KEY ?? 'x'));
    acknowledged = { before: acknowledgedBefore, until: new Set(writing.ids) };
    assert.ok(acknowledged.until.size > acknowledgedBefore.length, 'writers went on meanwhile');
    await writing.stop();
    await server.stop();
  });
  after(async () => {
    for (const server of served) server.kill();
    await scratch.remove();
  });

  async function insertOldLogsOf(dataDir: string, server: Served, key: string): Promise<void> {
    const address = await findRunningServer(dataDir);
    assert.ok(address);
    const { socketDir, port, database, ownerRole } = address;
    const owner = await connectAs({ socketDir, port, database, user: ownerRole });
    await insertOldLogs(owner, (await server.call('GET', '/tenants/self', { key })).json.id);
    await owner.end();
  }

  /** Every key opens, every token reads back, and nothing is of another moment than the rest. */
  async function assertRestored(settings: CommandSettings): Promise<void> {
    const verified = await succeed(settings, 'keys', 'verify');
    assert.match(verified.stderr, /Rows that do not open: 0/);
    const server = await serve(settings);
    try {
      await assertWorksOn(server.call, quiet, seen);
      const present = await assertOneMoment(server.call, busy);
      for (const id of acknowledged.before) assert.ok(present.has(id), 'what was acknowledged before is there');
      for (const id of present) assert.ok(busy.ids.includes(id) || acknowledged.until.has(id), 'and nothing newer');
    } finally {
      await server.stop();
    }
  }

  it('files of the owner alone, and sums that another program can check', async () => {
    assert.equal((await stat(path('backup'))).mode & 0o777, 0o700);
    const names = await readdir(path('backup'));
    assert.ok(names.includes('manifest.json') && names.includes('tokens.copy.gz') && names.includes('SHA256SUMS'));
    assert.ok(!names.some((name) => name.endsWith('.unfinished')));
    for (const name of names) assert.equal((await stat(join(path('backup'), name))).mode & 0o777, 0o600, name);
  });

  it('0 into a new data folder with the same root key: keys verify, tokens, logs, usage, sessions and keys are as before', async () => {
    const settings = { ...base, STRONGROOM_DATA_DIR: path('new') };
    const { stdout, stderr } = await succeed(settings, 'restore', '--from', path('backup'));
    assert.match(stdout, /^Restored \d+ rows of \d+ tables\./);
    assert.match(stderr, /Now set root key rk-[0-9a-f]{12} and run strongroom keys verify/);
    await assertRestored(settings);
    const again = await runCommand(settings, 'restore', '--from', path('backup'));
    assert.equal(again.code, 78);
    assert.match(again.stderr, /not empty: \w+ has rows.*Nothing was changed/);
  });

  it('78 from keys verify with another root key: the backup alone opens nothing', async () => {
    const settings = { ...base, STRONGROOM_DATA_DIR: path('new'), STRONGROOM_ROOT_KEY: generateRootKey().reveal() };
    const { code, stderr } = await runCommand(settings, 'keys', 'verify');
    assert.equal(code, 78);
    assert.match(stderr, /sealed by root key rk-/);
  });

  it('78 for a backup of a data folder without a database, and none is made', async () => {
    const settings = { ...base, STRONGROOM_DATA_DIR: path('nothing') };
    const { code } = await runCommand(settings, 'backup', '--to', path('of-nothing'));
    assert.equal(code, 78);
    await assert.rejects(stat(path('nothing')));
  });

  describe('with a server whose owner is no superuser', { skip: unless(findPostgres(), 'PostgreSQL') }, () => {
    let server: PostgresServer;
    let first: CommandSettings;
    let second: CommandSettings;
    before(async () => {
      server = await startPostgres();
      const client = await server.connect('postgres');
      await client.query(`CREATE DATABASE ${SECOND_DATABASE} OWNER strongroom_owner`);
      await client.end();
      const settingsOf = (database?: string) => ({
        ...base,
        STRONGROOM_DATABASE_URL: server.url('service', database),
        STRONGROOM_MIGRATION_DATABASE_URL: server.url('owner', database),
      });
      [first, second] = [settingsOf(), settingsOf(SECOND_DATABASE)];
    });
    after(() => server.remove());

    it('0 from the embedded server to it, and from it to another database beside a running service', async () => {
      await succeed(first, 'restore', '--from', path('backup'));
      const running = await serve(first);
      await succeed(first, 'backup', '--to', path('backup-of-server'));
      await running.stop();
      await succeed(second, 'restore', '--from', path('backup-of-server'));
      await assertRestored(second);
    });

    it('row-level security is forced again on every table after a restore', async () => {
      const client = await server.connect(SECOND_DATABASE);
      const { rows } = await client.query(
        `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relrowsecurity
         AND NOT relforcerowsecurity`,
      );
      const forced = await client.query('SELECT FROM pg_class WHERE relforcerowsecurity');
      await client.end();
      assert.deepEqual(rows, []);
      assert.ok((forced.rowCount ?? 0) >= 14);
    });

    it('78 and an empty folder when a policy would hide rows, instead of a backup with fewer', async () => {
      const client = await server.connect(SECOND_DATABASE);
      try {
        await client.query('ALTER POLICY backup ON tokens RENAME TO moved');
        await mkdir(path('fewer'));
        const { code, stderr } = await runCommand(second, 'backup', '--to', path('fewer'));
        assert.equal(code, 78);
        assert.match(stderr, /would hide rows of tokens/);
        assert.deepEqual(await readdir(path('fewer')), []);
      } finally {
        await client.query('ALTER POLICY moved ON tokens RENAME TO backup');
        await client.end();
      }
    });

    it('78 without the address of the owner, and what to set is said', async () => {
      const { STRONGROOM_MIGRATION_DATABASE_URL: _, ...service } = first;
      for (const words of [
        ['backup', '--to', path('never')],
        ['restore', '--from', path('backup')],
      ]) {
        const { code, stderr } = await runCommand(service, ...words);
        assert.equal(code, 78);
        assert.match(stderr, /Set STRONGROOM_MIGRATION_DATABASE_URL/);
      }
    });
  });
});
