// needs: account

import assert from 'node:assert/strict';
import { chmod, chown, mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { EXIT, ExitError } from '../kernel/exit.js';
import { Secret } from '../kernel/secret.js';
import { createCustody } from './custody.js';
import { makeRootCheck, verifyRootCheck } from './root-check.js';
import { formatRootKey, generateRootKey, parseRootKey, RootKeyFormatError } from './root-key.js';
import { loadRootKey } from './root-key-custody.js';
import { readRootKeyFile, replaceRootKeyFile } from './root-key-file.js';
import { formatRootKeyRing, idsOf, parseRootKeyRing } from './root-key-ring.js';

const [oldText, newText, otherText] = [1, 2, 3].map(() => generateRootKey().reveal());
assert.ok(oldText && newText && otherText);
const [oldKey, newKey, otherKey] = [oldText, newText, otherText].map(parseRootKey);
assert.ok(oldKey && newKey && otherKey);
const OTHER_UID = 12_345;
let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'strongroom-ring-'));
});
after(() => rm(folder, { recursive: true }));

describe('the text of a ring', () => {
  test('keys separated by commas or lines, with spaces and empty parts around them, keep their order', () => {
    const spellings = [`${newText},${oldText}`, `${newText}\n${oldText}\n`, `\r\n ${newText} ,\r\n\n${oldText}\r\n,`];
    for (const text of spellings) assert.deepEqual(idsOf(parseRootKeyRing(text)), [newKey.id, oldKey.id]);
  });

  test('none, one twice, too many, or one that is malformed is refused without repeating it', () => {
    const five = Array.from({ length: 5 }, () => generateRootKey().reveal()).join();
    for (const text of ['', ' ,\n', `${oldText},${oldText}`, five, `${oldText},${newText.slice(1)}`, `${oldText} x`]) {
      assert.throws(
        () => parseRootKeyRing(text),
        (error) => error instanceof RootKeyFormatError && !error.message.includes(oldText.slice(4, 12)),
      );
    }
  });

  test('written and read again a ring is the same', () => {
    assert.equal(formatRootKey(oldKey).reveal(), oldText);
    assert.equal(formatRootKeyRing([newKey, oldKey]).reveal(), `${newText}\n${oldText}\n`);
  });
});

describe('several keys at start', () => {
  const value = new Secret(`${newText},${oldText}`);
  const full = { isProduction: true, databaseHoldsData: true };

  test('sealed by the first: start, with a warning that names the spare key', async () => {
    const { ring, warnings } = await loadRootKey({ ...full, value, sealedById: newKey.id });
    assert.equal(verifyRootCheck(ring, makeRootCheck(newKey)), ring[0]);
    assert.equal(warnings.length, 1);
    assert.match(warnings.join(), new RegExp(`${oldKey.id} is configured beside ${newKey.id}.*remove the spare`));
  });

  test('sealed by another of them: start, with a warning that says how to finish', async () => {
    const { ring, warnings } = await loadRootKey({ ...full, value, sealedById: oldKey.id });
    assert.equal(verifyRootCheck(ring, makeRootCheck(oldKey)).id, oldKey.id);
    assert.equal(warnings.length, 1);
    assert.match(warnings.join(), new RegExp(`by root key ${newKey.id}.*sealed by ${oldKey.id}.*keys rotate-root`));
  });

  test('sealed by none of them: 78 with every id', async () => {
    const { ring } = await loadRootKey({ ...full, value, sealedById: otherKey.id });
    assert.throws(
      () => verifyRootCheck(ring, makeRootCheck(otherKey)),
      (error) =>
        error instanceof ExitError &&
        error.exitCode === EXIT.configuration &&
        [oldKey.id, newKey.id, otherKey.id].every((id) => error.message.includes(id)),
    );
  });

  test('an empty database: the first will seal it, with the warning', async () => {
    const { ring, warnings } = await loadRootKey({ isProduction: true, databaseHoldsData: false, value });
    assert.deepEqual([ring[0].id, warnings.length], [newKey.id, 1]);
  });

  test('from a file the same as from the variable', async () => {
    const file = join(folder, 'both');
    await writeFile(file, `${newText}\n${oldText}\n`, { mode: 0o600 });
    const loaded = await loadRootKey({ ...full, file, sealedById: newKey.id });
    assert.deepEqual([idsOf(loaded.ring), loaded.warnings.length], [[newKey.id, oldKey.id], 1]);
  });
});

describe('a key file that is replaced', () => {
  test('holds the new keys, mode 0600 whatever it was, and nothing is left beside it', async () => {
    const place = await mkdtemp(join(folder, 'replaced-'));
    const path = join(place, 'root.key');
    await writeFile(path, oldText);
    await chmod(path, 0o440);
    await writeFile(`${path}.0123456789abcdef.tmp`, oldText);
    await writeFile(`${path}.backup`, 'not ours');
    await replaceRootKeyFile(path, [newKey, oldKey]);
    assert.equal(await readFile(path, 'utf8'), `${newText}\n${oldText}\n`);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual((await readdir(place)).sort(), ['root.key', 'root.key.backup']);
  });

  test('keeps its owner, also when root replaces it for a service that runs as somebody else', async () => {
    const path = join(await mkdtemp(join(folder, 'owned-')), 'root.key');
    await writeFile(path, oldText, { mode: 0o600 });
    const own = process.geteuid?.() ?? 0;
    const owner = own === 0 ? OTHER_UID : own;
    if (own === 0) await chown(path, OTHER_UID, OTHER_UID);
    await replaceRootKeyFile(path, [newKey]);
    const { uid, mode } = await stat(path);
    assert.deepEqual([uid, mode & 0o777], [owner, 0o600]);
  });

  test('through a link: the file it leads to is replaced, the link stays', async () => {
    const place = await mkdtemp(join(folder, 'linked-'));
    const [target, path] = [join(place, 'target'), join(place, 'root.key')];
    await writeFile(target, oldText, { mode: 0o600 });
    await symlink(target, path);
    await replaceRootKeyFile(path, [newKey]);
    assert.equal(await readlink(path), target);
    assert.deepEqual(idsOf((await readRootKeyFile(target))?.ring ?? []), [newKey.id]);
  });

  test('78 where there is none, with what to do', async () => {
    await assert.rejects(replaceRootKeyFile(join(folder, 'absent'), [newKey]), (error) => {
      assert.ok(error instanceof ExitError);
      assert.match(error.message, /cannot be replaced \(ENOENT\).*put the keys there yourself/);
      return error.exitCode === EXIT.configuration;
    });
  });
});

describe('custody', () => {
  test('reads a file again when asked, and keeps what it has while the file cannot be read', async () => {
    const file = join(await mkdtemp(join(folder, 'custody-')), 'root.key');
    await writeFile(file, oldText, { mode: 0o600 });
    const custody = createCustody({ ring: [oldKey], file });
    await custody.replace([newKey, oldKey]);
    await writeFile(file, `${otherText}\n${newText}\n`);
    assert.deepEqual(idsOf(custody.ring()), [newKey.id, oldKey.id]);
    const [first, second] = await Promise.all([custody.reload(), custody.reload()]);
    assert.equal(first, second);
    assert.deepEqual(idsOf(custody.ring()), [otherKey.id, newKey.id]);
    await writeFile(file, 'half');
    assert.deepEqual(idsOf(await custody.reload()), [otherKey.id, newKey.id]);
    await rm(file);
    assert.deepEqual(idsOf(await custody.reload()), [otherKey.id, newKey.id]);
  });

  test('of a variable stays as it is and cannot be replaced', async () => {
    const custody = createCustody({ ring: [oldKey], file: undefined });
    assert.equal(await custody.reload(), custody.ring());
    await assert.rejects(custody.replace([newKey]), /assertion failed/);
  });
});
