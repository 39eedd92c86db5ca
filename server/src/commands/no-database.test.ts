import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { generateRootKey } from '../crypto/root-key.js';
import { newId } from '../kernel/ids.js';
import { urlOf } from '../testing/command-runner.js';
import type { EmptyDatabase } from '../testing/empty-database.js';
import { createEmptyDatabase, describeSchema } from '../testing/empty-database.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import { COMMANDS, runCommandLine } from './command-line.js';

/** What a command does where there is no database: refuses it, makes one, says so, or has no business with it. */
type Kind = 'refuses' | 'makes' | 'reports' | 'needs none';

interface Case {
  readonly kind: Kind;
  /** Arguments that would do elsewhere. */
  readonly words?: readonly string[];
  /** Arguments that would do nowhere, beyond what the parser of the command line sees. */
  readonly wrong?: readonly string[];
}

const TENANT = newId();

/** One for each command there is; a new one without a case fails. */
function cases(passphraseFile: string, outside: string): Readonly<Record<string, Case>> {
  const passphrase = ['--passphrase-file', passphraseFile];
  const application = ['--tenant', TENANT, '--permission', 'tenant:read', '--type'];
  return {
    serve: { kind: 'makes' },
    migrate: { kind: 'makes', wrong: ['--distribute', 'postgres'] },
    restore: { kind: 'makes', wrong: ['--from', join(outside, 'missing')] },
    doctor: { kind: 'reports' },
    'key generate': { kind: 'needs none', wrong: ['--type', 'made-up'] },
    'root-key generate': { kind: 'needs none' },
    'export-key generate': {
      kind: 'needs none',
      words: ['--out', join(outside, 'export.key')],
      wrong: ['--out', passphraseFile],
    },
    'tenant create': { kind: 'refuses', words: ['--name', 'Anybody'], wrong: ['--name', ' '] },
    'tenant list': { kind: 'refuses' },
    'application create': {
      kind: 'refuses',
      words: [...application, 'management'],
      wrong: [...application, 'made-up'],
    },
    'keys rotate': { kind: 'refuses', words: ['--all'], wrong: [] },
    'keys rotate-root': { kind: 'refuses', wrong: ['--new-key-file', join(outside, 'missing')] },
    'keys verify': { kind: 'refuses', wrong: ['--tenant', 'nobody'] },
    'tokens export': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--out', 'export', ...passphrase],
      wrong: ['--tenant', 'nobody', '--out', 'export', ...passphrase, '--segment-tokens', '0'],
    },
    'tokens import': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--in', outside, ...passphrase],
      wrong: ['--tenant', 'nobody', '--in', outside, ...passphrase, '--on-conflict', 'made-up'],
    },
    'logs export': {
      kind: 'refuses',
      words: ['--tenant', TENANT, '--to', 'logs.jsonl'],
      wrong: ['--tenant', 'nobody', '--to', 'logs.jsonl'],
    },
    'logs purge': { kind: 'refuses', words: ['--tenant', TENANT], wrong: ['--tenant', 'nobody'] },
    backup: { kind: 'refuses', words: ['--to', 'backup'], wrong: ['--to', passphraseFile] },
  };
}

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** In this process, whose settings and working folder are those of the test. */
async function run(name: string, words: readonly string[] = []): Promise<Ended> {
  const printed: string[] = [];
  const said: string[] = [];
  const output = { print: (text: string) => void printed.push(text), say: (text: string) => void said.push(text) };
  const code = await runCommandLine([...name.split(' '), ...words], output);
  return { code, stdout: printed.join('\n'), stderr: said.join('\n') };
}

describe('commands where there is no database', () => {
  const environment = { ...process.env };
  const workingFolder = process.cwd();
  const rootKey = generateRootKey().reveal();
  let outside: string;
  /** The working folder of every command, in which nothing may appear. */
  let inside: string;
  let passphraseFile: string;

  const settle = (settings: Readonly<Record<string, string>>): void => {
    const others = Object.entries(environment).filter(([name]) => !name.startsWith('STRONGROOM_'));
    process.env = { ...Object.fromEntries(others), ...settings };
  };

  before(async () => {
    outside = await mkdtemp(join(tmpdir(), 'sr-none-'));
    inside = await mkdtemp(join(tmpdir(), 'sr-none-'));
    passphraseFile = join(outside, 'passphrase');
    await writeFile(passphraseFile, 'six random words are good here', { mode: 0o600 });
    process.chdir(inside);
  });
  beforeEach(() => settle({ STRONGROOM_DATA_DIR: join(inside, 'typo'), STRONGROOM_ROOT_KEY: rootKey }));
  after(async () => {
    process.chdir(workingFolder);
    process.env = environment;
    for (const folder of [outside, inside]) await rm(folder, { recursive: true, force: true });
  });

  it('there is a case for every command', () => {
    assert.deepEqual(Object.keys(cases('', '')).sort(), COMMANDS.map(({ name }) => name).sort());
  });

  for (const [name, { kind }] of Object.entries(cases('', ''))) {
    if (kind === 'refuses') {
      it(`78 from ${name} in a folder without a database, which is named, and nothing is made`, async () => {
        const { code, stdout, stderr } = await run(name, cases(passphraseFile, outside)[name]?.words);
        assert.equal(code, 78, stderr);
        assert.equal(stdout, '');
        assert.ok(stderr.includes(`There is no database in ${join(inside, 'typo')}`), stderr);
        assert.match(stderr, /STRONGROOM_DATA_DIR/);
        assert.deepEqual(await readdir(inside), []);
      });
    }

    it(`nothing is made by ${name} with wrong arguments in a folder without a database`, async () => {
      const { wrong } = cases(passphraseFile, outside)[name] ?? {};
      const misused = await run(name, ['--made-up']);
      assert.equal(misused.code, 64, misused.stderr);
      if (wrong !== undefined) {
        const { code, stderr } = await run(name, wrong);
        assert.ok(code === 64 || code === 78 || (name === 'restore' && code === 1), `${code}: ${stderr}`);
      }
      assert.deepEqual(await readdir(inside), []);
    });
  }

  it('0 from doctor and from the generators, and nothing is made where the database would be', async () => {
    for (const [name, { kind, words }] of Object.entries(cases(passphraseFile, outside))) {
      if (kind !== 'reports' && kind !== 'needs none') continue;
      const { code, stdout, stderr } = await run(name, words);
      assert.equal(code, 0, stderr);
      if (kind === 'reports') assert.match(stdout, /^ok {7}database: none in /m);
      assert.deepEqual(await readdir(inside), []);
    }
  });

  it('78 in a folder that is there and empty, or holds something else, and it stays as it is', async () => {
    const folder = join(outside, 'holds-notes');
    await mkdir(folder);
    for (const content of [[], ['notes.txt']]) {
      for (const file of content) await writeFile(join(folder, file), 'mine');
      settle({ STRONGROOM_DATA_DIR: folder });
      const { code, stderr } = await run('keys verify');
      assert.equal(code, 78, stderr);
      assert.match(stderr, /There is no database in /);
      assert.deepEqual(await readdir(folder), content);
    }
  });

  it('0 from migrate, which makes one', async () => {
    const dataDir = join(outside, 'made');
    settle({ STRONGROOM_DATA_DIR: dataDir });
    const { code, stderr } = await run('migrate');
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
      settle({
        STRONGROOM_DATABASE_URL: urlOf(empty.target),
        STRONGROOM_MIGRATION_DATABASE_URL: urlOf(empty.ownerTarget),
        STRONGROOM_ROOT_KEY: rootKey,
      });
      const { code, stderr } = await run('keys verify');
      assert.equal(code, 78, stderr);
      assert.match(stderr, /no Strongroom schema.*strongroom migrate/);
      assert.deepEqual(await describeSchema(empty.owner), []);
    });
  });
});
