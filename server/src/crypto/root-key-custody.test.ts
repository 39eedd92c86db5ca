// needs: processes

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { EXIT, ExitError } from '../kernel/exit.js';
import { Secret } from '../kernel/secret.js';
import { generateRootKey, parseRootKey } from './root-key.js';
import { loadRootKey, type RootKeySource } from './root-key-custody.js';
import { idsOf } from './root-key-ring.js';

let parent: string;
let dataDir: string;
let localFile: string;
const text = generateRootKey().reveal();
const { id } = parseRootKey(text);
const empty = { isProduction: false, databaseHoldsData: false };
const emptyProduction = { ...empty, isProduction: true };
const full = { isProduction: false, databaseHoldsData: true, sealedById: 'rk-0123456789ab' };
const fullProduction = { ...full, isProduction: true };
const everyState = [empty, emptyProduction, full, fullProduction];

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'strongroom-custody-'));
});
after(() => rm(parent, { recursive: true }));
beforeEach(async () => {
  dataDir = await mkdtemp(join(parent, 'data-'));
  localFile = join(dataDir, 'root.key');
});

async function keyFile(path: string, { content = `${text}\n`, mode = 0o600 } = {}): Promise<string> {
  await writeFile(path, content);
  await chmod(path, mode);
  return path;
}

async function refusalOf(source: RootKeySource): Promise<string> {
  try {
    await loadRootKey(source);
  } catch (error) {
    assert.ok(error instanceof ExitError);
    assert.equal(error.exitCode, EXIT.configuration);
    assert.ok(!error.message.includes(text.slice(4, 12)));
    return error.message;
  }
  return assert.fail('a root key was loaded');
}

describe('a key by value', () => {
  test('is used as it is in every state, without a warning, and nothing is written', async () => {
    for (const state of everyState) {
      const { ring, ...rest } = await loadRootKey({ ...state, dataDir, value: new Secret(text) });
      assert.deepEqual(idsOf(ring), [id]);
      assert.deepEqual(rest, { file: undefined, warnings: [] });
    }
    assert.deepEqual(await readdir(dataDir), []);
  });

  test('wins over a local key file', async () => {
    await keyFile(localFile, { content: generateRootKey().reveal() });
    assert.equal((await loadRootKey({ ...fullProduction, dataDir, value: new Secret(text) })).ring[0].id, id);
  });

  test('78 when it is malformed, naming the setting', async () => {
    const message = await refusalOf({ ...empty, dataDir, value: new Secret(text.slice(0, -1)) });
    assert.match(message, /STRONGROOM_ROOT_KEY is not a root key.*55 characters/);
    assert.match(await refusalOf({ ...empty, dataDir, value: new Secret('') }), /is empty/);
  });

  test('78 when a file is given too', async () => {
    const file = await keyFile(join(dataDir, 'given'));
    for (const state of everyState) {
      const message = await refusalOf({ ...state, dataDir, value: new Secret(text), file });
      assert.match(message, /Both STRONGROOM_ROOT_KEY and STRONGROOM_ROOT_KEY_FILE/);
    }
  });
});

describe('a key by file', () => {
  test('is used in every state when only its owner may read it, without a warning', async () => {
    for (const mode of [0o600, 0o400]) {
      const file = await keyFile(join(dataDir, `given-${mode}`), { mode });
      for (const state of everyState) {
        const { ring, ...rest } = await loadRootKey({ ...state, dataDir, file });
        assert.deepEqual(idsOf(ring), [id]);
        assert.deepEqual(rest, { file, warnings: [] });
      }
    }
  });

  test('is read through a link, whose target counts', async () => {
    const target = await keyFile(join(dataDir, 'target'));
    const file = join(dataDir, 'linked');
    await symlink(target, file);
    assert.deepEqual((await loadRootKey({ ...emptyProduction, file })).warnings, []);
    await chmod(target, 0o644);
    assert.match(await refusalOf({ ...emptyProduction, file }), /open to other users/);
  });

  test('that lies in the data folder is used in production when it is named', async () => {
    await keyFile(localFile);
    const loaded = await loadRootKey({ ...fullProduction, dataDir, file: localFile });
    assert.deepEqual([loaded.ring[0].id, loaded.warnings], [id, []]);
  });

  test('open to group or others is a warning, and 78 in production', async () => {
    for (const mode of [0o640, 0o604, 0o644, 0o620, 0o440]) {
      const file = await keyFile(join(dataDir, `given-${mode}`), { mode });
      const { warnings } = await loadRootKey({ ...full, file });
      assert.equal(warnings.length, 1);
      assert.match(warnings.join(), /open to other users.*chmod 600/);
      assert.match(await refusalOf({ ...fullProduction, file }), /open to other users.*chmod 600/);
    }
  });

  test('78 when it is missing, and it is not made', async () => {
    const file = join(dataDir, 'absent');
    for (const state of everyState)
      assert.match(await refusalOf({ ...state, dataDir, file }), /absent.*does not exist/);
    assert.deepEqual(await readdir(dataDir), []);
  });

  test('78 when it cannot be read, with the reason', async () => {
    const file = join(await keyFile(join(dataDir, 'not-a-folder')), 'given');
    assert.match(await refusalOf({ ...empty, file }), /cannot be read \(ENOTDIR\)/);
  });

  test('78 at once when it is a pipe that nobody writes to', async () => {
    const file = join(dataDir, 'pipe');
    execFileSync('mkfifo', [file]);
    assert.match(await refusalOf({ ...empty, file }), /not a root key file: It is a folder, a pipe/);
  });

  test('78 when it is a folder, malformed, empty or far too large', async () => {
    const folder = join(dataDir, 'folder');
    await mkdir(folder);
    assert.match(await refusalOf({ ...empty, file: folder }), /not a root key file: It is a folder/);
    const contents = [text.replace(/.$/, 'z'), '', `${text}\n${text}`, text.padEnd(5000), '\u0000'.repeat(56)];
    for (const content of contents) {
      const file = await keyFile(join(dataDir, 'given'), { content });
      assert.match(await refusalOf({ ...empty, file }), /given is not a root key file: .*Restore it/);
    }
  });
});

describe('no key given, and a local key file', () => {
  test('is used outside production, with a warning at every start', async () => {
    await keyFile(localFile);
    for (const state of [empty, full, full]) {
      const { ring, warnings, ...rest } = await loadRootKey({ ...state, dataDir });
      assert.equal(ring[0].id, id);
      assert.equal(warnings.length, 1);
      assert.match(warnings.join(), /root\.key, beside the data.*STRONGROOM_ROOT_KEY_FILE/);
      assert.deepEqual(rest, { file: localFile });
    }
  });

  test('open to others adds a second warning', async () => {
    await keyFile(localFile, { mode: 0o644 });
    const { warnings } = await loadRootKey({ ...full, dataDir });
    assert.equal(warnings.length, 2);
    assert.match(warnings.join(), /chmod 600/);
  });

  test('78 in production, saying where to move it', async () => {
    await keyFile(localFile);
    for (const state of [emptyProduction, fullProduction]) {
      const message = await refusalOf({ ...state, dataDir });
      assert.match(message, /beside the data.*move it.*STRONGROOM_ROOT_KEY_FILE/);
    }
  });

  test('78 when it is malformed, and it stays as it was', async () => {
    await keyFile(localFile, { content: 'half a ke' });
    for (const state of everyState) assert.match(await refusalOf({ ...state, dataDir }), /not a root key file/);
    assert.equal(await readFile(localFile, 'utf8'), 'half a ke');
  });

  test('78 when it is a link that leads nowhere, and nothing is put in its place', async () => {
    await symlink(join(dataDir, 'unmounted'), localFile);
    assert.match(await refusalOf({ ...empty, dataDir }), /leads nowhere/);
    assert.deepEqual(await readdir(dataDir), ['root.key']);
  });
});

describe('no key anywhere', () => {
  test('and a database that holds data: 78 with the id it was sealed by, and no key is made', async () => {
    for (const state of [full, fullProduction]) {
      const message = await refusalOf({ ...state, dataDir });
      assert.match(message, /sealed by root key rk-0123456789ab/);
      assert.match(message, /No new key is generated, because it would make the data unreadable/);
    }
    assert.match(await refusalOf({ ...full, dataDir, sealedById: undefined }), /sealed by a root key/);
    assert.match(await refusalOf(full), /rk-0123456789ab/);
    assert.deepEqual(await readdir(dataDir), []);
  });

  test('and an empty database in production: 78 saying how to make one and how to give it', async () => {
    for (const source of [{ ...emptyProduction, dataDir }, emptyProduction]) {
      assert.match(await refusalOf(source), /strongroom root-key generate.*STRONGROOM_ROOT_KEY_FILE/);
    }
    assert.deepEqual(await readdir(dataDir), []);
  });

  test('and an empty database without a data folder: 78 saying how to make one', async () => {
    assert.match(await refusalOf(empty), /strongroom root-key generate/);
  });

  test('and an empty database: a whole key file of mode 0600 is made, with a warning, and nothing else is left', async () => {
    const { ring, warnings, createdFile } = await loadRootKey({ ...empty, dataDir });
    assert.equal(createdFile, localFile);
    assert.equal(warnings.length, 1);
    assert.equal((await stat(localFile)).mode & 0o777, 0o600);
    assert.equal(parseRootKey(await readFile(localFile, 'utf8')).id, ring[0].id);
    assert.deepEqual(await readdir(dataDir), ['root.key']);
    const again = await loadRootKey({ ...full, dataDir });
    assert.deepEqual([again.ring[0].id, again.warnings, again.createdFile], [ring[0].id, warnings, undefined]);
  });

  test('and no data folder yet: it is made for its owner alone', async () => {
    const fresh = join(dataDir, 'deep', 'down');
    await loadRootKey({ ...empty, dataDir: fresh });
    assert.equal((await stat(fresh)).mode & 0o777, 0o700);
  });

  test('and many starts at once: one makes the key and all of them hold it', async () => {
    const loaded = await Promise.all(Array.from({ length: 20 }, () => loadRootKey({ ...empty, dataDir })));
    assert.equal(new Set(loaded.map(({ ring }) => ring[0].id)).size, 1);
    assert.equal(loaded.filter(({ createdFile }) => createdFile !== undefined).length, 1);
    assert.deepEqual(await readdir(dataDir), ['root.key']);
  });

  test('but half a file that a crash left under its temporary name: it is not taken for a key', async () => {
    await writeFile(`${localFile}.0011223344556677.tmp`, text.slice(0, 20));
    assert.equal((await loadRootKey({ ...empty, dataDir })).createdFile, localFile);
  });

  test('and a data folder that is a file: 78', async () => {
    const file = await keyFile(join(dataDir, 'file'));
    await refusalOf({ ...empty, dataDir: file });
  });
});
