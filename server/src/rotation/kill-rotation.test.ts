// needs: processes

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { idsOf, parseRootKeyRing } from '../crypto/root-key-ring.js';
import { TABLES } from '../resources.js';
import { createChance } from '../testing/crash/rounds.js';
import { eventually } from '../testing/eventually.js';
import { rotateRoot } from './rotate-root.js';
import { rotateTenants } from './rotate-tenants.js';
import type { Process, RotationVault } from './rotation-fixture.js';
import {
  assertAllOpen,
  createFakeTime,
  createRotationVault,
  insertTestTokens,
  keyVersions,
  manyIds,
  versionsInUse,
} from './rotation-fixture.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const ROWS = 12_000;
const KILLS = 3;
/** Opening the database takes a part of it, so some kills come before the first change and some during the wait. */
const ROOT_KILL_MAX_MS = 1_500;

let vault: RotationVault;
let command: Process;
/** Where the commands run to their end, half a minute beside the other tests. */
let other: RotationVault;
let whole: ReturnType<typeof runWhole>;
before(async () => {
  [vault, other] = [await createRotationVault(), await createRotationVault()];
  command = await vault.open();
  whole = runWhole();
  // Awaited by the last test; until then a failure is not unhandled.
  whole.catch(() => {});
});
after(async () => {
  await vault.close();
  await other.close();
});

async function runWhole() {
  const owner = await other.open();
  const tenantId = await other.makeTenant(owner);
  await insertTestTokens(other, await owner.keyStore.keyring.forTenant(tenantId), manyIds(10));
  const rotating = endOf(launch(other, 'keys', 'rotate', '--tenant', tenantId));
  await eventually('the new key is there', async () => (await keyVersions(other, tenantId)).length === 2);
  const [rotated, rooted] = await Promise.all([rotating, endOf(launch(other, 'keys', 'rotate-root'))]);
  return { tenantId, rotated, rooted };
}

function launch(at: RotationVault, ...words: string[]): ChildProcess {
  const { target } = at.db;
  assert.ok('socketDir' in target);
  const { socketDir, port, user, database } = target;
  const url = `postgres://${user}@localhost/${database}?host=${encodeURIComponent(socketDir)}&port=${port}`;
  return spawn(process.execPath, [MAIN, ...words], {
    env: {
      PATH: process.env.PATH,
      STRONGROOM_ENV: 'production',
      STRONGROOM_DATABASE_URL: url,
      STRONGROOM_ROOT_KEY_FILE: at.keyFile,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(...words: string[]): Promise<Ended> {
  return endOf(launch(vault, ...words));
}

async function endOf(child: ChildProcess): Promise<Ended> {
  assert.ok(child.stdout && child.stderr);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
}

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}

async function placeOf(tenantId: string): Promise<string> {
  const { rows } = await vault.db.owner.query<{ place: string }>(
    'SELECT place FROM key_rotations WHERE tenant_id = $1 AND finished_at IS NULL',
    [tenantId],
  );
  return rows[0]?.place ?? '';
}

test('killed again and again in mid rotation: every row opens each time, and the next run goes on to one version', async () => {
  const tenantId = await vault.makeTenant(command);
  await insertTestTokens(vault, await command.keyStore.keyring.forTenant(tenantId), manyIds(ROWS));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = await placeOf(tenantId);
    const child = launch(vault, 'keys', 'rotate', '--tenant', tenantId);
    const ended = once(child, 'exit');
    await eventually('the rotation came further', async () => (await placeOf(tenantId)) > before);
    child.kill('SIGKILL');
    await ended;
    assert.deepEqual(await keyVersions(vault, tenantId), [1, 2]);
    assert.deepEqual(await versionsInUse(vault, tenantId), [1, 2], 'it was killed on the way');
    await assertAllOpen(vault, tenantId, ROWS);
  }
  const { clock, wait } = createFakeTime();
  const options = { ...command, clock, wait, tables: TABLES, onProgress: () => {} };
  const { finished, resumed, rows } = await rotateTenants(options, only(tenantId));
  assert.deepEqual([finished, resumed], [1, 1]);
  assert.ok(rows < ROWS, 'what was done before is not done again');
  assert.deepEqual([await keyVersions(vault, tenantId), await versionsInUse(vault, tenantId)], [[2], [2]]);
  await assertAllOpen(vault, tenantId, ROWS);
  const { code, stderr } = await run('keys', 'verify', '--tenant', tenantId);
  assert.equal(code, 0, stderr);
});

test('killed at any moment of a root rotation the database opens with the file as it is, and the next run ends it', async () => {
  const chance = createChance();
  process.stderr.write(`root rotation killed; CRASH_SEED=${chance.seed}\n`);
  const tenantIds: string[] = [];
  for (let count = 0; count < 40; count += 1) tenantIds.push(await vault.makeTenant(command));
  for (let kill = 0; kill < KILLS; kill += 1) {
    const child = launch(vault, 'keys', 'rotate-root');
    const ended = once(child, 'exit');
    await new Promise((resolve) => setTimeout(resolve, chance.below(ROOT_KILL_MAX_MS)));
    child.kill('SIGKILL');
    await ended;
    const started = await vault.open();
    for (const tenantId of tenantIds) await started.keyStore.keyring.forTenant(tenantId);
  }
  const isLockFree = async () => {
    const { rows } = await vault.db.owner.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND
      database = (SELECT oid FROM pg_database WHERE datname = current_database())`);
    return rows.length === 0;
  };
  await eventually('the lock of the killed run is gone', isLockFree);
  const { clock, wait } = createFakeTime();
  const { rootKeyId, isFileDone } = await rotateRoot({ ...(await vault.open()), clock, wait, onProgress: () => {} });
  assert.equal(isFileDone, true);
  assert.deepEqual(idsOf(parseRootKeyRing(await readFile(vault.keyFile, 'utf8'))), [rootKeyId]);
  const started = await vault.open();
  for (const tenantId of tenantIds) await started.keyStore.keyring.forTenant(tenantId);
});

test('64 for flags that do not fit, 78 for a new key file that is no good, and nothing changes', async () => {
  const before = await readFile(vault.keyFile, 'utf8');
  const tenantId = await vault.makeTenant(command);
  const [neither, both, unknown, date, absent, used] = await Promise.all([
    run('keys', 'rotate'),
    run('keys', 'rotate', '--all', '--tenant', tenantId),
    run('keys', 'verify', '--tenant', '4c4f2a4e-8d8f-4a53-9d6b-5b0a3c1f7a10'),
    run('keys', 'rotate', '--all', '--before', 'yesterday'),
    run('keys', 'rotate-root', '--new-key-file', `${vault.keyFile}.absent`),
    run('keys', 'rotate-root', '--new-key-file', vault.keyFile),
  ]);
  for (const { code, stderr } of [neither, both]) {
    assert.match(stderr, /either --tenant or --all/);
    assert.equal(code, 64);
  }
  assert.match(unknown.stderr, /tenant: is not the id of a Tenant/);
  assert.match(date.stderr, /before: is not a date/);
  assert.deepEqual([unknown.code, date.code, absent.code, used.code], [64, 64, 78, 78]);
  assert.match(absent.stderr, /does not exist/);
  assert.match(used.stderr, /is the one in use/);
  assert.deepEqual(await keyVersions(vault, tenantId), [1]);
  assert.equal(await readFile(vault.keyFile, 'utf8'), before);
});

test('the whole commands, with their wait: 0, progress and a summary on standard error, no key shown', async () => {
  const { tenantId, rotated, rooted } = await whole;
  for (const { code, stdout, stderr } of [rotated, rooted]) assert.deepEqual([code, stdout], [0, ''], stderr);
  assert.match(
    rotated.stderr,
    /Sealing rows.*\n(?:Waiting until.*\n)+Checking that.*\nKeys rotated: 1\. Rows sealed anew: 10\./,
  );
  assert.match(rooted.stderr, /Wrapping the keys[\s\S]*holds root key rk-[0-9a-f]{12} alone now: back it up/);
  assert.doesNotMatch(rooted.stderr, /rk1_/);
  assert.deepEqual(await keyVersions(other, tenantId), [2]);
  await assertAllOpen(other, tenantId, 10);
});
