// needs: processes

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { cp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { EXIT, ExitError } from '../../kernel/exit.js';
import { ANY_SEAL } from '../../testing/any-seal.js';
import type { CommandSettings } from '../../testing/command-runner.js';
import { ending, launch, runCommand, succeed, urlOf } from '../../testing/command-runner.js';
import type { EmptyDatabase } from '../../testing/empty-database.js';
import { createEmptyDatabase, describeSchema } from '../../testing/empty-database.js';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../testing/test-app.js';
import { makeScratch } from '../../testing/transfer.js';
import { migrate } from '../migrate.js';
import { readMigrations } from '../migrations.js';
import { backUp } from './back-up.js';
import { countRows, listTables } from './catalogue.js';
import { checkBackup, restore } from './restore.js';
import { Stopped } from './watch.js';

/** Enough that a process can be killed in the middle of its largest table. */
const LOG_ROWS = 100_000;
const LOGIN = 'strongroom';
const quietly = { onProgress: () => {}, shouldStop: () => false };

describe('a backup that goes wrong, and a restore that does', () => {
  let app: TestApp;
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let path: (name: string) => string;
  let empty: EmptyDatabase;
  let source: CommandSettings;
  let target: CommandSettings;
  before(async () => {
    app = await startTestApp();
    scratch = await makeScratch();
    path = (name) => join(scratch.path, name);
    const tenant = await app.makeTenant();
    await app.db.owner.query(
      `INSERT INTO logs SELECT $1, now(), gen_random_uuid(), 'user', gen_random_uuid(), 'token', md5(n::text), 'read',
         md5((n * 7)::text), 'success', NULL, md5((n * 3)::text) FROM generate_series(1, $2::int) n`,
      [tenant.id, LOG_ROWS],
    );
    const rootKey = rootKeyOf(app).reveal();
    source = settingsOf(urlOf(app.db.target), urlOf(app.db.ownerTarget), rootKey);
    await succeed(source, 'backup', '--to', path('whole'));
  });
  after(async () => {
    await app.close();
    await scratch.remove();
  });
  beforeEach(async () => {
    empty = await createEmptyDatabase(app.db);
    const service = urlOf({ ...(empty.target as { socketDir: string; port: number; database: string }), user: LOGIN }); // Through its socket, as every test database.
    target = settingsOf(service, urlOf(empty.ownerTarget), rootKeyOf(app).reveal());
  });
  afterEach(() => empty.drop());

  function settingsOf(service: string, owner: string, rootKey: string): CommandSettings {
    return {
      STRONGROOM_DATABASE_URL: service,
      STRONGROOM_MIGRATION_DATABASE_URL: owner,
      STRONGROOM_ROOT_KEY: rootKey,
    };
  }

  async function rowsIn(): Promise<number> {
    let rows = 0;
    for (const { name } of await listTables(empty.owner)) rows += await countRows(empty.owner, name);
    return rows;
  }

  async function killed(child: ChildProcess): Promise<void> {
    assert.equal(await killedAt(child), null);
  }

  /** Null, or the exit code of one that was through before. */
  async function killedAt(child: ChildProcess): Promise<number | null> {
    const ended = ending(child);
    child.kill('SIGKILL');
    return (await ended).code;
  }

  it('killed in the middle of its largest file, a backup has no manifest and is refused; the folder is not taken again', async () => {
    const folder = path('killed');
    const child = launch(source, 'backup', '--to', folder);
    const file = join(folder, 'logs.copy.gz.unfinished');
    await eventually('the log is being written', () => existsSync(file) && statSync(file).size > 100_000);
    await killed(child);
    assert.ok(!existsSync(join(folder, 'manifest.json')), 'it was killed in the middle');
    const refused = await runCommand(target, 'restore', '--from', folder);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /damaged or incomplete: manifest\.json or SHA256SUMS is missing/);
    assert.deepEqual(await describeSchema(empty.owner), []);
    assert.equal((await runCommand(source, 'backup', '--to', folder)).code, 64);
  });

  it('of several backups into one folder at the same moment one is whole, and the others are refused and touch nothing', async () => {
    const folder = path('shared');
    const taken = Array.from({ length: 3 }, () =>
      backUp({
        owner: app.db.ownerTarget,
        folder,
        productVersion: '0.0.0',
        nowMs: 0,
        sealManifest: ANY_SEAL.sealManifest,
        ...quietly,
      }),
    );
    const outcomes = await Promise.allSettled(taken);
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected']);
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') assert.match(String(outcome.reason), /invalid|empty/);
    await checkBackup(folder, ANY_SEAL.checkSeal, () => {});
    const names = (await readdir(folder)).filter(
      (name) => !/\.copy\.gz$|^manifest\.(json|seal)$|^SHA256SUMS$/.test(name),
    );
    assert.deepEqual(names, []);
  });

  it('a file that cannot be made in the middle ends the backup with a sentence, and nothing stays', async () => {
    const folder = path('obstructed');
    const obstruct = (): void => writeFileSync(join(folder, 'tokens.copy.gz.unfinished'), '');
    const options = {
      ...quietly,
      onProgress: obstruct,
      owner: app.db.ownerTarget,
      productVersion: '0.0.0',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
    };
    await assert.rejects(backUp({ ...options, folder }), /tokens\.copy\.gz cannot be used \(EEXIST\)/);
    assert.deepEqual(await readdir(folder), []);
  });

  it('78 for a login that does not own the schema, in a sentence, and no file stays', async () => {
    const options = {
      ...quietly,
      owner: app.db.target,
      productVersion: '0.0.0',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
    };
    await assert.rejects(backUp({ ...options, folder: path('not-ours') }), (error: unknown) => {
      assert.ok(error instanceof ExitError && error.exitCode === EXIT.configuration, String(error));
      assert.match(error.message, /does not own the schema/);
      return true;
    });
    assert.deepEqual(await readdir(path('not-ours')), []);
  });

  it('killed at any file, what is left is whole or is refused, and never restores fewer rows', async () => {
    for (const name of ['active_tokens.copy.gz', 'logs.copy.gz', 'tokens.copy.gz', 'SHA256SUMS']) {
      const folder = path(`killed-at-${name}`);
      const child = launch(source, 'backup', '--to', folder);
      await eventually(`${name} is there`, () => existsSync(join(folder, name)));
      const code = await killedAt(child);
      // Behind its last file there is little left to do, and it may be done before anybody has seen the file.
      assert.ok(code === null || (code === 0 && name === 'SHA256SUMS'), `ended with ${code} at ${name}`);
      if (code === 0 || existsSync(join(folder, 'manifest.json'))) {
        const { tables } = await checkBackup(folder, ANY_SEAL.checkSeal, () => {});
        assert.ok((tables.find((table) => table.name === 'logs')?.rows ?? 0) >= LOG_ROWS, name);
      } else
        await assert.rejects(
          checkBackup(folder, ANY_SEAL.checkSeal, () => {}),
          isDamage,
          name,
        );
    }
  });

  it('130 on Ctrl-C, and nothing of the backup stays', async () => {
    const folder = path('stopped');
    const child = launch(source, 'backup', '--to', folder);
    const ended = ending(child);
    const file = join(folder, 'logs.copy.gz.unfinished');
    await eventually('the log is being written', () => existsSync(file));
    child.kill('SIGINT');
    const { code, stderr } = await ended;
    assert.equal(code, 130, stderr);
    assert.deepEqual(await readdir(folder), []);
  });

  it('killed while it loads, at several points, a restore leaves no row; run again it is whole', async () => {
    for (const least of [0, 200_000, 8_000_000]) {
      const child = launch(target, 'restore', '--from', path('whole'));
      await eventually(`${least} bytes of a table were taken`, async () => {
        const { rows } = await app.db.owner.query<{ bytes: string }>(
          `SELECT coalesce(max(bytes_processed), -1) AS bytes FROM pg_stat_progress_copy
             WHERE datname = $1 AND relid = (SELECT $2::oid)`,
          [nameOf(empty), await oidOf('logs')],
        );
        return Number(rows[0]?.bytes) >= least;
      });
      await killed(child);
      await eventually('the server has noticed', async () => {
        const { rows } = await app.db.owner.query(
          `SELECT FROM pg_stat_activity WHERE datname = $1 AND application_name = 'strongroom'`,
          [nameOf(empty)],
        );
        return rows.length === 0;
      });
      assert.equal(await rowsIn(), 0);
    }
    await succeed(target, 'restore', '--from', path('whole'));
    assert.ok((await rowsIn()) > LOG_ROWS);
    await succeed(target, 'keys', 'verify');
  });

  it('refused with nothing changed: a flipped byte, a cut end, a missing file, another manifest, a newer format or schema', async () => {
    const flip = async (file: string) => {
      const bytes = await readFile(file);
      const at = Math.floor(bytes.length / 2);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(file, bytes);
    };
    const rewrite = async (folder: string, change: (body: Record<string, unknown>) => void) => {
      const file = join(folder, 'manifest.json');
      const body = JSON.parse(await readFile(file, 'utf8'));
      change(body);
      const text = JSON.stringify(body);
      await writeFile(file, text);
      await writeFile(
        join(folder, 'SHA256SUMS'),
        `${createHash('sha256').update(text).digest('hex')}  manifest.json\n`,
      );
    };
    const cases: Record<string, readonly [number, RegExp, (folder: string) => Promise<void>]> = {
      flipped: [1, /logs\.copy\.gz was altered/, (folder) => flip(join(folder, 'logs.copy.gz'))],
      small: [1, /users\.copy\.gz was altered/, (folder) => flip(join(folder, 'users.copy.gz'))],
      cut: [1, /logs\.copy\.gz has another size/, (folder) => truncate(join(folder, 'logs.copy.gz'), 5_000)],
      missing: [1, /tenants\.copy\.gz is missing/, (folder) => rm(join(folder, 'tenants.copy.gz'))],
      manifest: [1, /manifest\.json was altered/, (folder) => flip(join(folder, 'manifest.json'))],
      none: [1, /is missing/, (folder) => rm(join(folder, 'manifest.json'))],
      sums: [1, /is missing/, (folder) => rm(join(folder, 'SHA256SUMS'))],
      format: [78, /format 2, this release reads 1/, (folder) => rewrite(folder, (body) => (body.version = 2))],
      other: [1, /manifest is not as a backup/, (folder) => rewrite(folder, (body) => (body.format = 'tar'))],
      schema: [
        78,
        /this release knows \d+\. Restore with a release at least as new/,
        (folder) =>
          rewrite(folder, ({ migrations }) => {
            assert.ok(Array.isArray(migrations));
            const version = migrations.length + 1;
            migrations.push({ version, name: 'from_the_future', checksum: '0'.repeat(64) });
          }),
      ],
      outside: [
        1,
        /manifest is not as a backup/,
        (folder) =>
          rewrite(folder, ({ tables }) => {
            assert.ok(Array.isArray(tables));
            tables[0] = { ...tables[0], name: '../users', file: '../users.copy.gz' };
          }),
      ],
    };
    for (const [name, [code, sentence, spoil]] of Object.entries(cases)) {
      const folder = path(`spoilt-${name}`);
      await cp(path('whole'), folder, { recursive: true });
      await spoil(folder);
      await assert.rejects(
        checkBackup(folder, ANY_SEAL.checkSeal, () => {}),
        (error: unknown) => {
          assert.ok(error instanceof ExitError, `${name}: ${String(error)}`);
          assert.match(error.message, sentence, name);
          assert.match(error.message, /Nothing was changed/, name);
          assert.equal(error.exitCode, code, name);
          return true;
        },
      );
      await rm(folder, { recursive: true });
    }
    const folder = path('spoilt');
    await cp(path('whole'), folder, { recursive: true });
    await flip(join(folder, 'tokens.copy.gz'));
    assert.equal((await runCommand(target, 'restore', '--from', folder)).code, 1);
    assert.deepEqual(await describeSchema(empty.owner), [], 'not even a schema');
  });

  it('rows that differ from what was checked are noticed while loading, and nothing stays', async () => {
    const folder = path('swapped');
    await cp(path('whole'), folder, { recursive: true });
    const manifest = await checkBackup(folder, ANY_SEAL.checkSeal, () => {});
    await cp(join(folder, 'tenants.copy.gz'), join(folder, 'users.copy.gz'));
    const migration = { owner: empty.ownerTarget, login: LOGIN, createLogin: false };
    await assert.rejects(restore({ migration, folder, manifest, ...quietly }));
    assert.equal(await rowsIn(), 0);
  });

  it('78 for a database that holds anything, by one row of one table, and it stays as it is', async () => {
    const migration = { owner: empty.ownerTarget, login: LOGIN, createLogin: false };
    await migrate(migration);
    const manifest = await checkBackup(path('whole'), ANY_SEAL.checkSeal, () => {});
    await empty.owner.query(`INSERT INTO users VALUES (gen_random_uuid(), NULL, now())`);
    await assert.rejects(restore({ migration, folder: path('whole'), manifest, ...quietly }), (error: unknown) => {
      assert.ok(error instanceof ExitError && error.exitCode === EXIT.configuration);
      assert.match(error.message, /not empty: users has rows/);
      return true;
    });
    assert.equal(await rowsIn(), 1);
  });

  it('a backup of an older schema is loaded into that schema and migrated on; into a newer one it is refused', async () => {
    const shipped = await readMigrations();
    const older = shipped.length - 1;
    const owner = empty.ownerTarget;
    await migrate({ owner, login: LOGIN, createLogin: false, upTo: older });
    await empty.owner.query(`INSERT INTO users VALUES (gen_random_uuid(), 'a\\b', now())`);
    const old = {
      owner,
      folder: path('older'),
      productVersion: '0.1.0',
      nowMs: 0,
      sealManifest: ANY_SEAL.sealManifest,
      ...quietly,
    };
    const manifest = await backUp(old);
    assert.equal(manifest.migrations.length, older);
    const other = await createEmptyDatabase(app.db);
    try {
      const migration = { owner: other.ownerTarget, login: LOGIN, createLogin: false };
      const applied = await restore({ migration, folder: path('older'), manifest, ...quietly });
      assert.deepEqual(applied, [shipped.at(-1)?.name]);
      assert.deepEqual((await other.owner.query('SELECT email FROM users')).rows, [{ email: 'a\\b' }]);
      await other.owner.query('DELETE FROM users');
      const refused = restore({ migration, folder: path('older'), manifest, ...quietly });
      await assert.rejects(refused, (error: unknown) => error instanceof ExitError && /has schema/.test(error.message));
    } finally {
      await other.drop();
    }
  });

  it('stopped while it loads, nothing stays, and nobody sees a table without its walls', async () => {
    const manifest = await checkBackup(path('whole'), ANY_SEAL.checkSeal, () => {});
    const migration = { owner: empty.ownerTarget, login: LOGIN, createLogin: false };
    let asked = 0;
    const shouldStop = (): boolean => {
      asked += 1;
      return asked > 20;
    };
    const stopping = { onProgress: () => {}, shouldStop };
    await assert.rejects(restore({ migration, folder: path('whole'), manifest, ...stopping }), Stopped);
    assert.equal(await rowsIn(), 0);
    const open = await empty.owner.query('SELECT FROM pg_class WHERE relrowsecurity AND NOT relforcerowsecurity');
    assert.equal(open.rowCount, 0);
  });

  it('no table has a sequence, an identity or a generated column that a copy of rows would not bring back', async () => {
    const { rows } = await app.db.owner.query(
      `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'S'
       UNION ALL SELECT attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       WHERE c.relnamespace = 'public'::regnamespace AND (attgenerated <> '' OR attidentity <> '')`,
    );
    assert.deepEqual(rows, []);
  });

  async function oidOf(table: string): Promise<number> {
    const { rows } = await empty.owner.query<{ oid: number }>('SELECT to_regclass($1)::oid::int AS oid', [table]);
    return rows[0]?.oid ?? 0;
  }
});

function nameOf({ ownerTarget }: EmptyDatabase): string {
  if (!('database' in ownerTarget)) throw new Error('tests reach their server through its socket');
  return ownerTarget.database;
}

function isDamage(error: unknown): boolean {
  return error instanceof ExitError && error.exitCode === EXIT.failure;
}
