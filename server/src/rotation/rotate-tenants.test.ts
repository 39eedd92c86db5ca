// needs: time

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { TABLES } from '../resources.js';
import { LOCK_WAITS } from '../testing/cluster-only.js';
import { connectAs } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import { openContent, sealContent } from '../vault/stored/seal.js';
import { SETTLE_MS } from './rotate-tenant.js';
import type { RotateTenantsOptions } from './rotate-tenants.js';
import { rotateTenants } from './rotate-tenants.js';
import type { Process, RotationVault } from './rotation-fixture.js';
import {
  assertAllOpen,
  contentOf,
  createFakeTime,
  createRotationVault,
  failingAt,
  insertTestTokens,
  keyVersions,
  manyIds,
  sealedTokens,
  versionsInUse,
} from './rotation-fixture.js';
import { everyTenantId } from './tenants.js';

let vault: RotationVault;
before(async () => {
  vault = await createRotationVault();
});
after(() => vault.close());

async function* only(...tenantIds: string[]): AsyncGenerator<string> {
  yield* tenantIds;
}

function optionsOf(process: Process, more: Partial<RotateTenantsOptions> = {}): RotateTenantsOptions {
  const { clock, wait } = createFakeTime();
  return { ...process, clock, wait, tables: TABLES, onProgress: () => {}, ...more };
}

/** Two full batches and a little more. */
const ROWS = 1_100;

async function tenantWithRows(process: Process, count = ROWS): Promise<string> {
  const tenantId = await vault.makeTenant(process);
  await insertTestTokens(vault, await process.keyStore.keyring.forTenant(tenantId), manyIds(count));
  return tenantId;
}

async function rotationsOf(tenantId: string): Promise<[number, boolean][]> {
  const { rows } = await vault.db.owner.query<{ to_version: number; is_done: boolean }>(
    `SELECT to_version, finished_at IS NOT NULL AS is_done FROM key_rotations WHERE tenant_id = $1 ORDER BY 1`,
    [tenantId],
  );
  return rows.map(({ to_version, is_done }) => [to_version, is_done]);
}

describe('rotating a tenant', () => {
  test('every row opens under the new key alone, says what it said, and the old key is gone', async () => {
    const command = await vault.open();
    const tenantId = await tenantWithRows(command);
    const before = await sealedTokens(vault, tenantId);
    const { clock, wait, waits } = createFakeTime();
    const summary = await rotateTenants(optionsOf(command, { clock, wait }), only(tenantId));
    assert.deepEqual(summary, { finished: 1, resumed: 0, rows: ROWS, faults: [] });
    assert.deepEqual(waits, [SETTLE_MS]);
    assert.deepEqual(await keyVersions(vault, tenantId), [2]);
    assert.deepEqual(await versionsInUse(vault, tenantId), [2]);
    assert.deepEqual(await rotationsOf(tenantId), [[2, true]]);
    await assertAllOpen(vault, tenantId, ROWS);
    const now = await sealedTokens(vault, tenantId);
    assert.deepEqual(
      now.map(({ sealed: _, ...row }) => row),
      before.map(({ sealed: _, ...row }) => row),
    );
    await rotateTenants(optionsOf(command), only(tenantId));
    assert.deepEqual(await rotationsOf(tenantId), [
      [2, true],
      [3, true],
    ]);
    await assertAllOpen(vault, tenantId, ROWS);
  });

  test('a row written late under the old key is found, sealed anew, and the wait begins again', async () => {
    const command = await vault.open();
    const tenantId = await tenantWithRows(command, 3);
    const oldKeys = await command.keyStore.keyring.forTenant(tenantId);
    const { clock, wait, waits } = createFakeTime(async () => {
      if (waits.length < 3) await insertTestTokens(vault, oldKeys, manyIds(2));
      assert.deepEqual(await keyVersions(vault, tenantId), [1, 2], 'the old key is there while a row needs it');
    });
    const summary = await rotateTenants(optionsOf(command, { clock, wait }), only(tenantId));
    assert.deepEqual([summary.finished, summary.rows, waits.length], [1, 7, 3]);
    assert.deepEqual(await keyVersions(vault, tenantId), [2]);
    await assertAllOpen(vault, tenantId, 7);
  });

  test('a process that has heard nothing opens rows sealed under a key it does not hold', async () => {
    const [command, deaf] = [await vault.open(), await vault.open()];
    const tenantId = await tenantWithRows(command, 2);
    assert.equal((await deaf.keyStore.keyring.forTenant(tenantId)).encryption.currentVersion, 1);
    await rotateTenants(optionsOf(command), only(tenantId));
    const rows = await sealedTokens(vault, tenantId);
    const keys = await deaf.keyStore.keyring.forRecords(
      tenantId,
      rows.map(({ sealed }) => sealed),
    );
    for (const row of rows) assert.equal(openContent(keys, row).data, `data of ${row.id}`);
  });

  test('while a server writes, changes and reads without a pause: nothing is lost and nothing fails', async () => {
    const [command, server] = [await vault.open(), await vault.serve()];
    const tenantId = await tenantWithRows(command);
    const { keyring } = server.keyStore;
    let [rounds, isOver, count] = [0, false, ROWS];
    const write = async (): Promise<void> => {
      while (!isOver) {
        const [id = ''] = manyIds(1);
        await insertTestTokens(vault, await keyring.forTenant(tenantId), [id]);
        count += 1;
        const [row] = (await sealedTokens(vault, tenantId)).slice(rounds % 50);
        assert.ok(row);
        const keys = await keyring.forRecords(tenantId, [row.sealed]);
        assert.equal(openContent(keys, row).data, `data of ${row.id}`);
        rounds += 1;
      }
    };
    const writing = write();
    await eventually('the writer is at work', () => rounds > 3);
    // Stands for the half minute: the news has been heard, and whatever began before it has ended.
    const settle = async () => {
      await eventually(
        'the server has the new key',
        async () => (await keyring.forTenant(tenantId)).encryption.currentVersion === 2,
      );
      const enough = rounds + 2;
      await eventually('writes from before have ended', () => rounds >= enough);
    };
    const { clock, wait } = createFakeTime(settle);
    const { finished, faults } = await rotateTenants(optionsOf(command, { clock, wait }), only(tenantId));
    const later = rounds + 3;
    await eventually('the writer goes on', () => rounds >= later);
    isOver = true;
    await writing;
    assert.deepEqual([finished, faults], [1, []]);
    assert.deepEqual(await versionsInUse(vault, tenantId), [2]);
    await assertAllOpen(vault, tenantId, count);
  });

  test('a row that another transaction is changing is waited for and keeps its newer content', async () => {
    const command = await vault.open();
    const tenantId = await tenantWithRows(command, 20);
    const [row] = await sealedTokens(vault, tenantId);
    assert.ok(row);
    const place = { ...row, data_version: 2 };
    const content = contentOf(`data of ${row.id}, changed`);
    const sealed = sealContent(await command.keyStore.keyring.forTenant(tenantId), place, content);
    const writer = await connectAs(vault.db.ownerTarget);
    await writer.query('BEGIN');
    const change = 'UPDATE tokens SET data_version = 2, sealed = $3 WHERE tenant_id = $1 AND id = $2';
    await writer.query(change, [tenantId, row.id, sealed]);
    const rotating = rotateTenants(optionsOf(command), only(tenantId));
    await eventually('the rotation waits', async () => (await vault.db.owner.query(LOCK_WAITS)).rows.length > 0);
    await writer.query('COMMIT');
    await writer.end();
    assert.deepEqual((await rotating).faults, []);
    const keys = await command.keyStore.keyring.forTenant(tenantId);
    const [after] = await sealedTokens(vault, tenantId);
    assert.ok(after);
    assert.deepEqual([openContent(keys, after).data, after.data_version], [content.data, 2]);
    await assertAllOpen(vault, tenantId, 20);
  });

  test('two at once make one version, and both end well', async () => {
    const [one, other] = [await vault.open(), await vault.open()];
    const tenantId = await tenantWithRows(one);
    const summaries = await Promise.all(
      [one, other].map((process) => rotateTenants(optionsOf(process), only(tenantId))),
    );
    assert.deepEqual(
      summaries.map(({ finished, faults }) => [finished, faults]),
      [
        [1, []],
        [1, []],
      ],
    );
    assert.equal(
      summaries.reduce((sum, { rows }) => sum + rows, 0),
      ROWS,
    );
    assert.deepEqual(await rotationsOf(tenantId), [[2, true]]);
    assert.deepEqual(await keyVersions(vault, tenantId), [2]);
    await assertAllOpen(vault, tenantId, ROWS);
  });

  for (const when of ['before', 'after'] as const) {
    test(`broken off ${when} any of its changes it goes on to one new version, and every row opens meanwhile`, async () => {
      const command = await vault.open();
      const tenantId = await tenantWithRows(command);
      let version = 1;
      for (let nth = 1; ; nth += 1) {
        const { failing, injected } = failingAt(command.database, nth, when);
        const attempt = rotateTenants({ ...optionsOf(command), database: failing }, only(tenantId));
        const isDone = await attempt.then(
          () => true,
          (error) => (error === injected ? false : Promise.reject(error)),
        );
        await assertAllOpen(vault, tenantId, ROWS);
        if (!isDone) {
          const isAlreadyFinished = (await rotationsOf(tenantId)).at(-1)?.[1] ?? true;
          const { resumed, faults } = await rotateTenants(optionsOf(command), only(tenantId));
          assert.deepEqual([resumed, faults], [isAlreadyFinished ? 0 : 1, []], `change ${nth}`);
          if (isAlreadyFinished && (await keyVersions(vault, tenantId))[0] === version + 2) version += 1;
        }
        version += 1;
        assert.deepEqual(await keyVersions(vault, tenantId), [version], `change ${nth}`);
        await assertAllOpen(vault, tenantId, ROWS);
        if (isDone) {
          assert.ok(nth > 6, 'there were changes to break off at');
          return;
        }
      }
    });
  }

  test('a row that does not open stops nothing but the deletion of the old key; mended, the next run ends it', async () => {
    const command = await vault.open();
    const tenantId = await tenantWithRows(command, 30);
    const [broken] = await sealedTokens(vault, tenantId);
    assert.ok(broken);
    const damaged = Buffer.from(broken.sealed);
    damaged.writeUInt8(damaged.readUInt8(40) ^ 1, 40);
    const store = (sealed: Buffer) =>
      vault.db.owner.query('UPDATE tokens SET sealed = $3 WHERE tenant_id = $1 AND id = $2', [
        tenantId,
        broken.id,
        sealed,
      ]);
    await store(damaged);
    const { finished, rows, faults } = await rotateTenants(optionsOf(command), only(tenantId));
    assert.deepEqual([finished, rows, faults], [0, 29, [{ tenantId, table: 'tokens', id: broken.id }]]);
    assert.deepEqual(await keyVersions(vault, tenantId), [1, 2]);
    await store(broken.sealed);
    const again = await rotateTenants(optionsOf(command), only(tenantId));
    assert.deepEqual(again, { finished: 1, resumed: 1, rows: 1, faults: [] });
    assert.deepEqual(await keyVersions(vault, tenantId), [2]);
    await assertAllOpen(vault, tenantId, 30);
  });

  test('a deleted tenant gets no key, and one deleted on the way stays without', async () => {
    const command = await vault.open();
    const tenantId = await tenantWithRows(command, 3);
    const remove = async () => {
      await vault.db.owner.query('UPDATE tenants SET deleted_at = now() WHERE id = $1', [tenantId]);
      await vault.db.owner.query('DELETE FROM tenant_keys WHERE tenant_id = $1', [tenantId]);
    };
    const { clock, wait } = createFakeTime(remove);
    assert.deepEqual((await rotateTenants(optionsOf(command, { clock, wait }), only(tenantId))).faults, []);
    await rotateTenants(optionsOf(command), only(tenantId));
    assert.deepEqual(await keyVersions(vault, tenantId), []);
  });
});

describe('rotating every tenant', () => {
  test('one wait for all; tenants with a younger key, and one with damaged keys, are left alone', async () => {
    const command = await vault.open();
    const [a, b, broken] = [
      await tenantWithRows(command, 2),
      await tenantWithRows(command, 2),
      await tenantWithRows(command, 2),
    ];
    await vault.db.owner.query(`UPDATE tenant_keys SET wrapped = '\\x00' WHERE tenant_id = $1 AND kind = 'index'`, [
      broken,
    ]);
    const { clock, wait, waits } = createFakeTime();
    const fresh = await vault.open();
    const options = optionsOf(fresh, { clock, wait, madeBeforeMs: clock.nowMs() + 60_000 });
    const { finished, faults } = await rotateTenants(options, everyTenantId(fresh.database, wait));
    assert.ok(finished >= 2);
    assert.deepEqual(faults, [{ tenantId: broken, table: 'tenant_keys', id: '' }]);
    assert.deepEqual(waits, [SETTLE_MS]);
    for (const tenantId of [a, b]) assert.deepEqual(await keyVersions(vault, tenantId), [2]);
    assert.deepEqual(await keyVersions(vault, broken), [1]);
    const young = await rotateTenants(optionsOf(fresh, { madeBeforeMs: clock.nowMs() - 3_600_000 }), only(a, b));
    assert.equal(young.finished, 0);
    for (const tenantId of [a, b]) assert.deepEqual(await keyVersions(vault, tenantId), [2]);
  });
});
