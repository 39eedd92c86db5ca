import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { operatorContext } from '../audit/entry.js';
import { systemClock } from '../kernel/clock.js';
import { createApplication } from '../resources/applications/index.js';
import { TABLES } from '../resources.js';
import { rotateTenants } from './rotate-tenants.js';
import type { Process, RotationVault } from './rotation-fixture.js';
import { createFakeTime, createRotationVault, insertTestTokens, manyIds, sealedTokens } from './rotation-fixture.js';
import { everyTenantId } from './tenants.js';
import type { Fault, Verified } from './verify.js';
import { verifyKeys } from './verify.js';

let vault: RotationVault;
let command: Process;
let tenantId: string;
let otherId: string;
before(async () => {
  vault = await createRotationVault();
  command = await vault.open();
  tenantId = await makeTenant(700);
  otherId = await makeTenant(3);
});
after(() => vault.close());

const { wait } = createFakeTime();

async function makeTenant(rows: number): Promise<string> {
  const made = await vault.makeTenant(command);
  await insertTestTokens(vault, await command.keyStore.keyring.forTenant(made), manyIds(rows));
  await command.database.write(made, (tx) =>
    createApplication(tx, command.keyStore.systemKeys, operatorContext(systemClock.nowMs()), {
      name: 'Verified',
      type: 'management',
      permissions: ['tenant:read'],
    }),
  );
  return made;
}

async function verify(): Promise<Verified & { found: Fault[] }> {
  const found: Fault[] = [];
  const options = {
    ...command,
    tables: TABLES,
    wait,
    onFault: (fault: Fault) => found.push(fault),
    onProgress: () => {},
  };
  return { ...(await verifyKeys(options, everyTenantId(command.database, wait))), found };
}

/** Changes one value as the owner, looks what is found, and puts the value back. */
async function withDamage(table: string, column: string, where: string, damage: string): Promise<Fault[]> {
  const { owner } = vault.db;
  const { rows } = await owner.query<{ value: unknown; damaged: unknown }>(
    `SELECT ${column} AS value, ${damage} AS damaged FROM ${table} WHERE ${where}`,
  );
  assert.equal(rows.length, 1, 'one row is damaged');
  await owner.query(`UPDATE ${table} SET ${column} = $1 WHERE ${where}`, [rows[0]?.damaged]);
  const { found, faults } = await verify();
  assert.equal(faults, found.length);
  await owner.query(`UPDATE ${table} SET ${column} = $1 WHERE ${where}`, [rows[0]?.value]);
  return found;
}

const FLIP = (column: string, at: number) => `set_byte(${column}, ${at}, get_byte(${column}, ${at}) # 1)`;

test('everything opens: each row is counted once, and nothing is reported', async () => {
  // Keys of the installation, and for each tenant three keys, its tokens, its owner, an Application and its key.
  assert.deepEqual(await verify(), { tenants: 2, rows: 5 + 703 + 2 * 6, faults: 0, found: [] });
});

test('one flipped byte anywhere in a sealed token is found, with tenant, table and id; all other rows are still looked at', async () => {
  const rows = await sealedTokens(vault, tenantId);
  const row = rows.at(650);
  assert.ok(row);
  const where = `tenant_id = '${tenantId}' AND id = '${row.id}'`;
  for (const at of [0, 1, 3, 5, 9, 12, 30, row.sealed.length - 1]) {
    assert.deepEqual(await withDamage('tokens', 'sealed', where, FLIP('sealed', at)), [
      { tenantId, table: 'tokens', id: row.id },
    ]);
  }
});

test('a token moved to another group, cut short, or given the record of its neighbour is found', async () => {
  const [row, neighbour] = await sealedTokens(vault, tenantId);
  assert.ok(row && neighbour);
  const where = `tenant_id = '${tenantId}' AND id = '${row.id}'`;
  const expected = [{ tenantId, table: 'tokens', id: row.id }];
  assert.deepEqual(await withDamage('tokens', 'group_id', where, 'gen_random_uuid()'), expected);
  assert.deepEqual(await withDamage('tokens', 'sealed', where, "'\\x01'"), expected);
  assert.deepEqual(await withDamage('tokens', 'sealed', where, `'\\x${neighbour.sealed.toString('hex')}'`), expected);
});

test('a damaged key of a tenant is found by kind and version, and other tenants are still looked at', async () => {
  const where = `tenant_id = '${tenantId}' AND kind = 'fingerprint'`;
  const found = await withDamage('tenant_keys', 'wrapped', where, FLIP('wrapped', 40));
  assert.deepEqual(found, [{ tenantId, table: 'tenant_keys', id: 'fingerprint/1' }]);
});

test('a damaged key of the installation is found by name', async () => {
  const found = await withDamage('system_keys', 'wrapped', `name = 'audit-mac'`, FLIP('wrapped', 40));
  assert.deepEqual(found, [{ tenantId: undefined, table: 'system_keys', id: 'audit-mac' }]);
});

test('rights that were edited, and a key that was prolonged by hand, are found', async () => {
  const where = `tenant_id = '${otherId}'`;
  const rights = await withDamage('applications', 'permissions', where, `'{tenant:update}'`);
  assert.deepEqual(
    rights.map(({ tenantId: tenant, table }) => [tenant, table]),
    [[otherId, 'applications']],
  );
  const prolonged = await withDamage('api_keys', 'expires_at', where, `now() + interval '1 day'`);
  assert.deepEqual(
    prolonged.map(({ tenantId: tenant, table }) => [tenant, table]),
    [[otherId, 'api_keys']],
  );
});

test('beside a rotation nothing is reported that is whole', async () => {
  const process = await vault.open();
  let [isOver, found] = [false, [] as Fault[]];
  const looking = (async () => {
    while (!isOver) found = [...found, ...(await verify()).found];
  })();
  const fakeTime = createFakeTime();
  for (let round = 0; round < 4; round += 1) {
    const options = { ...process, ...fakeTime, tables: TABLES, onProgress: () => {} };
    await rotateTenants(options, everyTenantId(process.database, wait));
  }
  isOver = true;
  await looking;
  assert.deepEqual(found, []);
  assert.equal((await verify()).faults, 0);
});
