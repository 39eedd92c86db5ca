// needs: processes

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { generateRootKey } from '../crypto/root-key.js';
import { urlOf } from '../testing/command-runner.js';
import type { EmptyDatabase } from '../testing/empty-database.js';
import { createEmptyDatabase, describeSchema } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { COMMANDS } from './catalogue.js';
import type { CommandFolders, Desk } from './command-cases-fixture.js';
import { commandCases, runHere, sitDown } from './command-cases-fixture.js';

const NOWHERE: CommandFolders = { passphraseFile: '', outside: '', backup: '' };

describe('commands where there is no database', () => {
  const rootKey = generateRootKey().reveal();
  let places: CommandFolders;
  /** The working folder of every command, in which nothing may appear. */
  let inside: string;
  let desk: Desk;

  before(async () => {
    const outside = await mkdtemp(join(tmpdir(), 'sr-none-'));
    inside = await mkdtemp(join(tmpdir(), 'sr-none-'));
    places = { passphraseFile: join(outside, 'passphrase'), outside, backup: outside };
    await writeFile(places.passphraseFile, 'six random words are good here', { mode: 0o600 });
    desk = sitDown(inside);
  });
  beforeEach(() => desk.settle({ STRONGROOM_DATA_DIR: join(inside, 'typo'), STRONGROOM_ROOT_KEY: rootKey }));
  after(async () => {
    desk?.leave();
    for (const folder of [places.outside, inside]) await rm(folder, { recursive: true, force: true });
  });

  it('there is a case for every command', () => {
    assert.deepEqual(Object.keys(commandCases(NOWHERE)).sort(), Object.keys(COMMANDS).sort());
  });

  for (const [name, { kind }] of Object.entries(commandCases(NOWHERE))) {
    if (kind === 'refuses') {
      it(`78 from ${name} in a folder without a database, which is named, and nothing is made`, async () => {
        const { code, stdout, stderr } = await runHere(name, commandCases(places)[name]?.words);
        assert.equal(code, 78, stderr);
        assert.equal(stdout, '');
        assert.ok(stderr.includes(`There is no database in ${join(inside, 'typo')}`), stderr);
        assert.match(stderr, /STRONGROOM_DATA_DIR/);
        assert.deepEqual(await readdir(inside), []);
      });
    }

    it(`nothing is made by ${name} with wrong arguments in a folder without a database`, async () => {
      const { wrong } = commandCases(places)[name] ?? {};
      const misused = await runHere(name, ['--made-up']);
      assert.equal(misused.code, 64, misused.stderr);
      if (wrong !== undefined) {
        const { code, stderr } = await runHere(name, wrong);
        assert.ok(code === 64 || code === 78 || (name === 'restore' && code === 1), `${code}: ${stderr}`);
      }
      assert.deepEqual(await readdir(inside), []);
    });
  }

  it('0 from doctor and from the generators, and nothing is made where the database would be', async () => {
    for (const [name, { kind, words }] of Object.entries(commandCases(places))) {
      if (kind !== 'reports' && kind !== 'needs none') continue;
      const { code, stdout, stderr } = await runHere(name, words);
      assert.equal(code, 0, stderr);
      if (kind === 'reports') assert.match(stdout, /^ok {7}database: none in /m);
      assert.deepEqual(await readdir(inside), []);
    }
  });

  it('78 in a folder that is there and empty, or holds something else, and it stays as it is', async () => {
    const folder = join(places.outside, 'holds-notes');
    await mkdir(folder);
    for (const content of [[], ['notes.txt']]) {
      for (const file of content) await writeFile(join(folder, file), 'mine');
      desk.settle({ STRONGROOM_DATA_DIR: folder });
      const { code, stderr } = await runHere('keys verify');
      assert.equal(code, 78, stderr);
      assert.match(stderr, /There is no database in /);
      assert.deepEqual(await readdir(folder), content);
    }
  });

  it('0 from migrate, which makes one', async () => {
    const dataDir = join(places.outside, 'made');
    desk.settle({ STRONGROOM_DATA_DIR: dataDir });
    const { code, stderr } = await runHere('migrate');
    assert.equal(code, 0, stderr);
    assert.ok((await readdir(dataDir)).includes('postgres'));
  });

  describe('by address', () => {
    let db: TestDatabase;
    let empty: EmptyDatabase;
    before(async () => {
      db = await createTestDatabase();
      empty = await createEmptyDatabase(db);
    });
    after(async () => {
      await empty?.drop();
      await db?.drop();
    });

    it('78 from a command with the owner of an empty database, which gets no schema', async () => {
      desk.settle({
        STRONGROOM_DATABASE_URL: urlOf(empty.target),
        STRONGROOM_MIGRATION_DATABASE_URL: urlOf(empty.ownerTarget),
        STRONGROOM_ROOT_KEY: rootKey,
      });
      const { code, stderr } = await runHere('keys verify');
      assert.equal(code, 78, stderr);
      assert.match(stderr, /no Strongroom schema.*strongroom migrate/);
      assert.deepEqual(await describeSchema(empty.owner), []);
    });
  });
});
