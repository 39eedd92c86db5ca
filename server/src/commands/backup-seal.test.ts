// needs: processes

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { generateRootKey } from '../crypto/root-key.js';
import type { CommandSettings } from '../testing/command-runner.js';
import { runCommand, succeed, urlOf } from '../testing/command-runner.js';
import type { EmptyDatabase } from '../testing/empty-database.js';
import { createEmptyDatabase, describeSchema } from '../testing/empty-database.js';
import type { TestApp } from '../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../testing/test-app.js';
import { makeScratch } from '../testing/transfer.js';

const FORGED = /was changed after it was written: its seal does not fit/;

describe('the seal of a backup', () => {
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
    await app.makeTenant();
    await app.makeTenant();
    empty = await createEmptyDatabase(app.db);
    const rootKey = { STRONGROOM_ROOT_KEY: rootKeyOf(app).reveal() };
    source = { ...rootKey, ...addressesOf(urlOf(app.db.target), urlOf(app.db.ownerTarget)) };
    target = { ...rootKey, ...addressesOf(urlOf(empty.target), urlOf(empty.ownerTarget)) };
    await empty.owner.query(`CREATE ROLE ${empty.login} LOGIN NOINHERIT`);
    await succeed(source, 'backup', '--to', path('whole'));
  });
  after(async () => {
    await empty.drop();
    await app.close();
    await scratch.remove();
  });

  const addressesOf = (service: string, owner: string): CommandSettings => ({
    STRONGROOM_DATABASE_URL: service,
    STRONGROOM_MIGRATION_DATABASE_URL: owner,
  });
  const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

  /** Takes the first entry out of the log and reckons every sum anew, as somebody could who has only the folder. */
  async function forge(name: string): Promise<string> {
    const folder = path(name);
    await cp(path('whole'), folder, { recursive: true });
    const file = join(folder, 'logs.copy.gz');
    const lines = gunzipSync(await readFile(file)).toString();
    const content = gzipSync(lines.slice(lines.indexOf('\n') + 1));
    await writeFile(file, content);
    const before = await readFile(join(folder, 'manifest.json'), 'utf8');
    const body: { tables: { name: string; rows: number; bytes: number; sha256: string; file: string }[] } =
      JSON.parse(before);
    const logs = body.tables.find((table) => table.name === 'logs') ?? assert.fail('there is a log');
    assert.ok(logs.rows > 1);
    Object.assign(logs, { rows: logs.rows - 1, bytes: content.length, sha256: sha256(content) });
    const text = `${JSON.stringify(body, undefined, 2)}\n`;
    await writeFile(join(folder, 'manifest.json'), text);
    const sums = body.tables.map((table) => `${table.sha256}  ${table.file}\n`).join('');
    await writeFile(join(folder, 'SHA256SUMS'), `${sums}${sha256(text)}  manifest.json\n`);
    return folder;
  }

  async function assertRefused(
    code: number,
    sentence: RegExp,
    settings: CommandSettings,
    ...words: string[]
  ): Promise<void> {
    const refused = await runCommand(settings, ...words);
    assert.equal(refused.code, code, refused.stderr);
    assert.match(refused.stderr, sentence);
    assert.deepEqual(await describeSchema(empty.owner), [], 'not even a schema');
  }

  it('1 for a log entry that was taken out although every sum fits, and nothing is restored', async () => {
    const folder = await forge('forged');
    await assertRefused(1, FORGED, target, 'restore', '--from', folder);
    await assertRefused(1, FORGED, target, 'restore', '--from', folder, '--accept-unsealed');
    await assertRefused(1, FORGED, source, 'keys', 'verify', '--backup', folder);
  });

  it('1 where the seal was taken out too, with the word that would accept it', async () => {
    const folder = await forge('unsealed');
    await rm(join(folder, 'manifest.seal'));
    await assertRefused(1, /has no seal.*--accept-unsealed/, target, 'restore', '--from', folder);
    await assertRefused(1, /has no seal/, source, 'keys', 'verify', '--backup', folder);
  });

  it('1 for the seal of another backup, a seal by another key under its name, and no seal at all in the file', async () => {
    const folder = path('exchanged');
    await cp(path('whole'), folder, { recursive: true });
    await succeed(source, 'backup', '--to', path('another'));
    const own = await readFile(join(folder, 'manifest.seal'), 'utf8');
    const another = await readFile(join(path('another'), 'manifest.seal'), 'utf8');
    for (const seal of [another, own.replace(/[0-9a-f]{64}/, '0'.repeat(64)), `${own}${own}`, '', 'rk']) {
      await writeFile(join(folder, 'manifest.seal'), seal);
      await assertRefused(1, FORGED, target, 'restore', '--from', folder);
    }
  });

  it('78 with another root key or none, for both ways, and no file of a backup is left', async () => {
    const other = { ...target, STRONGROOM_ROOT_KEY: generateRootKey().reveal() };
    await assertRefused(78, /backup was sealed by root key rk-\w+, but/, other, 'restore', '--from', path('whole'));
    const none = { ...target, STRONGROOM_ROOT_KEY: '', STRONGROOM_DATA_DIR: path('no-folder') };
    await assertRefused(
      78,
      /The seal of a backup is checked by the root key/,
      none,
      'restore',
      '--from',
      path('whole'),
    );
    const wrong = { ...source, STRONGROOM_ROOT_KEY: generateRootKey().reveal() };
    await assertRefused(78, /database was sealed by root key rk-\w+, but/, wrong, 'backup', '--to', path('never'));
    assert.deepEqual(await readdir(path('never')), []);
    const keyless = { ...source, STRONGROOM_ROOT_KEY: '', STRONGROOM_DATA_DIR: path('no-folder') };
    await assertRefused(78, /A backup is sealed by the root key/, keyless, 'backup', '--to', path('never'));
  });

  it('64 for a backup and a tenant at once', async () => {
    const words = ['--backup', path('whole'), '--tenant', 'x'];
    await assertRefused(64, /cannot be given with --tenant/, source, 'keys', 'verify', ...words);
  });

  it('0 for the backup as it was written, and for one without a seal that was accepted by name', async () => {
    const { stderr } = await succeed(source, 'keys', 'verify', '--backup', path('whole'));
    assert.match(stderr, /The seal and every sum fit: \d+ rows/);
    const folder = path('of-an-earlier-release');
    await cp(path('whole'), folder, { recursive: true });
    await rm(join(folder, 'manifest.seal'));
    await succeed(target, 'restore', '--from', folder, '--accept-unsealed');
  });
});
