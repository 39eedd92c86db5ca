// needs: processes

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { generateRootKey } from '../crypto/root-key.js';
import { makeFolders } from '../storage/make-folders.js';
import type { CommandSettings } from '../testing/command-runner.js';
import { runToEnd, urlOf } from '../testing/command-runner.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';

/** A folder of the system in which nobody makes one, and in which Node's own `mkdir` never comes to an end. */
const TAKES_NONE = '/proc';

describe('a place where nothing can be made', () => {
  let folder: string;
  let db: TestDatabase;
  let settings: CommandSettings;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sr-place-'));
    await writeFile(join(folder, 'file'), '');
    db = await createTestDatabase();
    settings = {
      STRONGROOM_DATABASE_URL: urlOf(db.target),
      STRONGROOM_MIGRATION_DATABASE_URL: urlOf(db.ownerTarget),
      STRONGROOM_ROOT_KEY: generateRootKey().reveal(),
    };
  });
  after(async () => {
    await db?.drop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const place of [join(TAKES_NONE, 'backup'), join(TAKES_NONE, 'some', 'backup'), 'file', 'file/backup']) {
    it(`64 from backup --to ${place}: it ends and names the place`, async () => {
      const to = place.startsWith('/') ? place : join(folder, place);
      const { code, stderr } = await runToEnd(settings, 'backup', '--to', to);
      assert.equal(code, 64, stderr);
      assert.ok(stderr.includes(to), stderr);
      assert.match(stderr, /to: .*(E[A-Z]+).*choose/i);
      assert.deepEqual(await readdir(folder), ['file']);
    });
  }

  it('64 from backup --to nothing, which would be the working folder', async () => {
    const { code, stderr } = await runToEnd(settings, 'backup', '--to', '');
    assert.equal(code, 64, stderr);
    assert.match(stderr, /missing --to/);
  });

  it('78 from serve with a data folder that cannot be made: it ends and names the setting', async () => {
    const { code, stderr } = await runToEnd({ STRONGROOM_DATA_DIR: join(TAKES_NONE, 'some', 'data') }, 'serve');
    assert.equal(code, 78, stderr);
    assert.match(stderr, /\/proc\/some\/data cannot be used .*STRONGROOM_DATA_DIR/);
  });

  it('folders are made with those they lie in, once, by two at the same moment too', async () => {
    const path = join(folder, 'a', 'b', 'c');
    await Promise.all([makeFolders(path, 0o700), makeFolders(path, 0o700)]);
    assert.equal((await stat(path)).mode & 0o777, 0o700);
    await makeFolders(path);
    await rm(join(folder, 'a'), { recursive: true });
  });
});
