// needs: time

import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { insertTenantKey } from '../crypto/key-queries.js';
import { openKeyStore } from '../crypto/key-store.js';
import { generateRootKey, parseRootKey } from '../crypto/root-key.js';
import { idsOf, parseRootKeyRing } from '../crypto/root-key-ring.js';
import { generateTenantKeys } from '../crypto/tenant-keys.js';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { EXIT, ExitError } from '../kernel/exit.js';
import { Secret } from '../kernel/secret.js';
import { createDatabase } from '../storage/database.js';
import { createCaller } from '../testing/http-client.js';
import type { RootRotationOptions } from './rotate-root.js';
import { rotateRoot } from './rotate-root.js';
import { SETTLE_MS } from './rotate-tenant.js';
import type { Process, RotationVault } from './rotation-fixture.js';
import {
  assertAllOpen,
  createFakeTime,
  createRotationVault,
  failingAt,
  insertTestTokens,
  manyIds,
} from './rotation-fixture.js';

let vault: RotationVault;
let command: Process;
let tenants: string[];
/** Each test has a vault of its own, since a rotation changes all of it. */
beforeEach(async () => {
  vault = await createRotationVault();
  command = await vault.open();
  tenants = [];
  for (let count = 0; count < 3; count += 1) {
    const tenantId = await vault.makeTenant(command);
    await insertTestTokens(vault, await command.keyStore.keyring.forTenant(tenantId), manyIds(2));
    tenants.push(tenantId);
  }
});
afterEach(() => vault.close());

function optionsOf(process: Process, more: Partial<RootRotationOptions> = {}): RootRotationOptions {
  const { clock, wait } = createFakeTime();
  return { ...process, clock, wait, onProgress: () => {}, ...more };
}

async function idsOnDisk(): Promise<string[]> {
  return idsOf(parseRootKeyRing(await readFile(vault.keyFile, 'utf8')));
}

async function sealedBy(): Promise<string | undefined> {
  return (await vault.db.owner.query<{ id: string }>('SELECT root_key_id AS id FROM root_key_check')).rows[0]?.id;
}

/** As the next start would find it: check row, system keys, every tenant, with the files as they are. */
async function assertStarts(): Promise<void> {
  const started = await vault.open();
  for (const tenantId of tenants) {
    await started.keyStore.keyring.forTenant(tenantId);
    await assertAllOpen(vault, tenantId, 2);
  }
}

async function refusalOf(rotating: Promise<unknown>): Promise<ExitError> {
  const error = await rotating.then(
    () => assert.fail('it was not refused'),
    (reason) => reason,
  );
  assert.ok(error instanceof ExitError, String(error));
  return error;
}

describe('rotating the root key in a file', () => {
  test('everything opens by the new key alone, which alone is in the file, mode 0600', async () => {
    const [oldId] = await idsOnDisk();
    const { clock, wait, waits } = createFakeTime();
    const summary = await rotateRoot(optionsOf(command, { clock, wait }));
    const [newId, ...others] = await idsOnDisk();
    assert.ok(newId !== undefined && newId !== oldId);
    assert.deepEqual(others, []);
    assert.deepEqual(summary, {
      rootKeyId: newId,
      previousIds: [oldId],
      isResumed: false,
      keys: 3 * tenants.length + 5,
      damagedTenants: [],
      isFileDone: true,
    });
    assert.deepEqual([await sealedBy(), waits], [newId, [SETTLE_MS]]);
    assert.equal((await stat(vault.keyFile)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(vault.folder), ['root.key']);
    await assertStarts();
  });

  test('to a key of the operator: that very key is in the file', async () => {
    const newKey = parseRootKey(generateRootKey().reveal());
    assert.equal((await rotateRoot(optionsOf(command, { newKey }))).rootKeyId, newKey.id);
    assert.deepEqual(await idsOnDisk(), [newKey.id]);
    await assertStarts();
  });

  test('78 for the key that is in use as the new one, and nothing changes', async () => {
    const text = await readFile(vault.keyFile, 'utf8');
    const { exitCode, message } = await refusalOf(rotateRoot(optionsOf(command, { newKey: parseRootKey(text) })));
    assert.equal(exitCode, EXIT.configuration);
    assert.match(message, /is the one in use/);
    assert.equal(await readFile(vault.keyFile, 'utf8'), text);
  });

  test('a server beside it goes on: cached tenants, tenants it never opened, and tenants it makes', async () => {
    const server = await vault.serve();
    const [cached = '', unopened = ''] = tenants;
    await server.keyStore.keyring.forTenant(cached);
    const call = createCaller(server.baseUrl);
    const seen: string[][] = [];
    const { clock, wait } = createFakeTime(async () => {
      seen.push(await idsOnDisk());
      await server.keyStore.keyring.forTenant(cached);
      await server.keyStore.keyring.forTenant(unopened);
      tenants.push(await vault.makeTenant(server));
      assert.equal((await call('GET', '/readyz')).status, 200);
    });
    const { rootKeyId } = await rotateRoot(optionsOf(command, { clock, wait }));
    assert.equal(seen[0]?.length, 2, 'both keys are on disk while both are needed');
    server.keyStore.keyring.clear();
    for (const tenantId of tenants) await server.keyStore.keyring.forTenant(tenantId);
    const made = await vault.makeTenant(server);
    assert.deepEqual(await idsOnDisk(), [rootKeyId]);
    const started = await vault.open();
    for (const tenantId of [...tenants, made]) await started.keyStore.keyring.forTenant(tenantId);
  });

  test('a tenant wrapped late by the old key is found, and the wait begins again', async () => {
    const [oldKey] = command.keyStore.custody.ring();
    const { clock, wait, waits } = createFakeTime(async () => {
      if (waits.length > 1) return;
      // As a process would that read the key file just before it was replaced.
      const late = await vault.open();
      const tenantId = await vault.makeTenant(late);
      await vault.db.owner.query('DELETE FROM tenant_keys WHERE tenant_id = $1', [tenantId]);
      await late.database.write(tenantId, async (tx) => {
        for (const row of generateTenantKeys(oldKey, tenantId)) await insertTenantKey(tx, row, 0);
      });
      await insertTestTokens(vault, await late.keyStore.keyring.forTenant(tenantId), manyIds(2));
      tenants.push(tenantId);
    });
    const { keys } = await rotateRoot(optionsOf(command, { clock, wait }));
    assert.deepEqual([keys, waits.length], [3 * 4 + 5, 2]);
    await assertStarts();
  });

  test('69 for a second one at the same time, and the first ends well', async () => {
    const other = await vault.open();
    let refusal: ExitError | undefined;
    const { clock, wait } = createFakeTime(async () => {
      refusal = await refusalOf(rotateRoot(optionsOf(other)));
    });
    await rotateRoot(optionsOf(command, { clock, wait }));
    assert.equal(refusal?.exitCode, EXIT.unavailable);
    assert.match(refusal?.message ?? '', /Another rotation/);
    assert.equal((await idsOnDisk()).length, 1);
    await assertStarts();
    const next = await rotateRoot(optionsOf(other));
    assert.equal(next.isResumed, false);
    await assertStarts();
  });

  for (const when of ['before', 'after'] as const) {
    test(`broken off ${when} any change of database or file: it opens as it is, and the next run ends it`, async () => {
      for (let nth = 1; ; nth += 1) {
        const process = await vault.open();
        // The first change is the transaction that holds the lock, and ends with the run.
        const { failing, guard, injected } = failingAt(process.database, nth, when);
        const { custody } = process.keyStore;
        const keyStore = {
          custody: {
            ...custody,
            replace: (ring: Parameters<typeof custody.replace>[0]) => guard(() => custody.replace(ring)),
          },
        };
        const [before] = await idsOnDisk();
        const isDone = await rotateRoot({ ...optionsOf(process), database: failing, keyStore }).then(
          () => true,
          (error) => (error === injected ? false : Promise.reject(error)),
        );
        await assertStarts();
        const ring = await idsOnDisk();
        const isBegun = ring[0] !== before;
        if (!isDone) {
          const { isResumed, rootKeyId } = await rotateRoot(optionsOf(await vault.open()));
          assert.equal(isResumed, ring.length > 1, `change ${nth}`);
          if (isBegun && ring.length > 1) assert.equal(rootKeyId, ring[0], `change ${nth}`);
        }
        assert.equal((await idsOnDisk()).length, 1);
        assert.equal(await sealedBy(), (await idsOnDisk())[0]);
        await assertStarts();
        if (isDone) {
          assert.ok(nth > 6, 'there were changes to break off at');
          return;
        }
      }
    });
  }

  test('78 when another new key is given for a rotation that is under way; the same key goes on', async () => {
    const newKey = parseRootKey(generateRootKey().reveal());
    const { failing, injected } = failingAt(command.database, 3, 'after');
    await assert.rejects(rotateRoot({ ...optionsOf(command, { newKey }), database: failing }), injected);
    const other = parseRootKey(generateRootKey().reveal());
    const refusal = await refusalOf(rotateRoot(optionsOf(command, { newKey: other })));
    assert.match(refusal.message, new RegExp(`A rotation to root key ${newKey.id} is under way`));
    assert.equal((await rotateRoot(optionsOf(command, { newKey }))).isResumed, true);
    assert.deepEqual(await idsOnDisk(), [newKey.id]);
    await assertStarts();
  });

  test('a tenant whose keys no root key opens: the others are wrapped, the old key stays in the file', async () => {
    const [broken = '', ...whole] = tenants;
    const { rows } = await vault.db.owner.query<{ wrapped: Buffer }>(
      `SELECT wrapped FROM tenant_keys WHERE tenant_id = $1 AND kind = 'index'`,
      [broken],
    );
    const store = (wrapped: Buffer) =>
      vault.db.owner.query(`UPDATE tenant_keys SET wrapped = $2 WHERE tenant_id = $1 AND kind = 'index'`, [
        broken,
        wrapped,
      ]);
    await store(Buffer.alloc(70));
    const { damagedTenants, isFileDone } = await rotateRoot(optionsOf(command));
    assert.deepEqual([damagedTenants, isFileDone], [[broken], false]);
    assert.equal((await idsOnDisk()).length, 2);
    for (const tenantId of whole) await assertAllOpen(vault, tenantId, 2);
    await store(rows[0]?.wrapped ?? assert.fail());
    assert.equal((await rotateRoot(optionsOf(command))).isFileDone, true);
    await assertStarts();
  });
});

describe('rotating the root key in a variable', () => {
  async function openWith(value: string): Promise<Process> {
    const database = createDatabase({
      target: vault.db.target,
      isDistributed: vault.db.isDistributed,
      clock: systemClock,
    });
    const { keyStore } = await openKeyStore(database, { value: new Secret(value), isProduction: true });
    return { database, keyStore };
  }

  test('78 with one key, saying what to do; with both everything is wrapped by the first', async () => {
    const oldText = (await readFile(vault.keyFile, 'utf8')).trim();
    const newText = generateRootKey().reveal();
    const alone = await openWith(oldText);
    const refusal = await refusalOf(rotateRoot(optionsOf(alone)));
    assert.match(refusal.message, /root-key generate.*restart every server.*the new key, a comma and the old key/);
    const both = await openWith(`${newText},${oldText}`);
    const { rootKeyId, isFileDone, isResumed } = await rotateRoot(optionsOf(both));
    assert.deepEqual([rootKeyId, isFileDone, isResumed], [parseRootKey(newText).id, false, true]);
    const next = await openWith(newText);
    for (const tenantId of tenants) await next.keyStore.keyring.forTenant(tenantId);
    await assert.rejects(openWith(oldText), ExitError);
    // The server that was never restarted: what it remembers serves on, but it makes no key that would be lost.
    await assert.rejects(vault.makeTenant(alone), (error) => {
      return error instanceof AppError && error.code === 'storage_unavailable';
    });
    await Promise.all([alone, both, next].map(({ database }) => database.close()));
    await writeFile(join(vault.folder, 'root.key'), newText, { mode: 0o600 });
    await assertStarts();
  });
});
