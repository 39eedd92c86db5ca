import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../kernel/errors.js';
import { createCustody } from './custody.js';
import { type FieldContext, openField, sealField } from './envelope.js';
import { IntegrityError } from './integrity-error.js';
import { Keyring } from './keyring.js';
import { generateRootKey, parseRootKey, type RootKey } from './root-key.js';
import type { RootKeyRing } from './root-key-ring.js';
import {
  generateEncryptionKey,
  generateTenantKeys,
  openTenantKeys,
  type TenantKeyRow,
  type TenantKeys,
} from './tenant-keys.js';

const rootKey = parseRootKey(generateRootKey().reveal());

function holding(rootKey: RootKey) {
  return createCustody({ ring: [rootKey], file: undefined });
}

/** A key table of which every read can be held back until the test lets it go. */
function setUp(entriesMax = 10) {
  const table = new Map<string, readonly TenantKeyRow[]>();
  const reads: string[] = [];
  let gate: Promise<void> = Promise.resolve();
  const keyring = new Keyring({
    custody: holding(rootKey),
    entriesMax,
    async loadRows(tenantId) {
      reads.push(tenantId);
      const rows = table.get(tenantId) ?? [];
      await gate;
      return rows;
    },
  });
  const replaceKeys = (tenantId: string) => table.set(tenantId, generateTenantKeys(rootKey, tenantId));
  const holdReads = () => {
    const { promise, resolve } = deferred();
    gate = promise;
    return () => {
      gate = Promise.resolve();
      resolve();
    };
  };
  return { keyring, table, reads, replaceKeys, holdReads };
}

function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test('a tenant asked for twice is read once and gives the same keys', async () => {
  const { keyring, reads, replaceKeys } = setUp();
  replaceKeys('a');
  assert.equal(await keyring.forTenant('a'), await keyring.forTenant('a'));
  assert.deepEqual(reads, ['a']);
});

test('asked for many times at once, a tenant is read once', async () => {
  const { keyring, reads, replaceKeys } = setUp();
  replaceKeys('a');
  const keys = await Promise.all(Array.from({ length: 50 }, () => keyring.forTenant('a')));
  assert.equal(new Set(keys).size, 1);
  assert.deepEqual(reads, ['a']);
});

test('full, the keyring lets go of the tenant unused for longest', async () => {
  const { keyring, reads, replaceKeys } = setUp(2);
  for (const tenantId of ['a', 'b', 'c']) replaceKeys(tenantId);
  for (const tenantId of ['a', 'b', 'a', 'c']) await keyring.forTenant(tenantId);
  reads.length = 0;
  for (const tenantId of ['a', 'c', 'b']) await keyring.forTenant(tenantId);
  assert.deepEqual(reads, ['b']);
});

test('many tenants loaded at once do not grow the keyring past its bound', async () => {
  const { keyring, reads, replaceKeys } = setUp(3);
  const tenantIds = Array.from({ length: 20 }, (_, index) => `tenant-${index}`);
  for (const tenantId of tenantIds) replaceKeys(tenantId);
  await Promise.all(tenantIds.map((tenantId) => keyring.forTenant(tenantId)));
  reads.length = 0;
  // From the youngest back, so that what is read again pushes out nothing that is still to be asked for.
  for (const tenantId of tenantIds.slice(-3)) await keyring.forTenant(tenantId);
  assert.deepEqual(reads, []);
  for (const tenantId of tenantIds.slice(0, -3)) await keyring.forTenant(tenantId);
  assert.equal(reads.length, tenantIds.length - 3);
});

test('evicted, a tenant is read again and gives what is stored now', async () => {
  const { keyring, reads, replaceKeys } = setUp();
  replaceKeys('a');
  const before = await keyring.forTenant('a');
  replaceKeys('a');
  keyring.evict('a');
  assert.notEqual(await keyring.forTenant('a'), before);
  assert.deepEqual(reads, ['a', 'a']);
});

for (const act of ['evict', 'clear'] as const) {
  test(`${act} during a load: the old keys are not kept, and who asks afterwards gets the new ones`, async () => {
    const { keyring, reads, replaceKeys, holdReads } = setUp();
    replaceKeys('a');
    const release = holdReads();
    const asked = keyring.forTenant('a');
    replaceKeys('a');
    keyring[act]('a');
    const askedAfterwards = keyring.forTenant('a');
    release();
    const [old, fresh] = await Promise.all([asked, askedAfterwards]);
    assert.notDeepEqual(old.fingerprint.export(), fresh.fingerprint.export());
    assert.equal(await keyring.forTenant('a'), fresh);
    assert.deepEqual(reads, ['a', 'a']);
  });
}

test('evict during a load that nobody repeats: the old keys are not kept', async () => {
  const { keyring, reads, replaceKeys, holdReads } = setUp();
  replaceKeys('a');
  const release = holdReads();
  const asked = keyring.forTenant('a');
  keyring.evict('a');
  release();
  await asked;
  await keyring.forTenant('a');
  assert.deepEqual(reads, ['a', 'a']);
});

test('an old load that ends after a newer one does not replace its keys', async () => {
  const { keyring, replaceKeys, holdReads } = setUp();
  replaceKeys('a');
  const releaseOld = holdReads();
  const asked = keyring.forTenant('a');
  keyring.evict('a');
  replaceKeys('a');
  const releaseNew = holdReads();
  const askedAfterwards = keyring.forTenant('a');
  releaseNew();
  const fresh = await askedAfterwards;
  releaseOld();
  await asked;
  assert.equal(await keyring.forTenant('a'), fresh);
});

test('503 for a tenant whose keys do not open, with the story as cause; other tenants are served', async () => {
  const { keyring, table, replaceKeys } = setUp();
  replaceKeys('a');
  table.set('broken', generateTenantKeys(rootKey, 'someone-else'));
  await assert.rejects(
    async () => keyring.forTenant('broken'),
    (error) => {
      assert.ok(error instanceof AppError);
      assert.equal(error.code, 'storage_unavailable');
      assert.ok(error.cause instanceof IntegrityError);
      return true;
    },
  );
  assert.equal((await keyring.forTenant('a')).tenantId, 'a');
});

test('a tenant without keys is an integrity fault, and is served once it has keys', async () => {
  const { keyring, replaceKeys } = setUp();
  await assert.rejects(async () => keyring.forTenant('a'), IntegrityError);
  replaceKeys('a');
  assert.equal((await keyring.forTenant('a')).tenantId, 'a');
});

test('a failing store fails every caller who waits, unchanged, and is asked again later', async () => {
  const outage = new Error('no connection');
  let isDown = true;
  const keyring = new Keyring({
    custody: holding(rootKey),
    entriesMax: 1,
    loadRows: async (tenantId) => {
      if (isDown) throw outage;
      return generateTenantKeys(rootKey, tenantId);
    },
  });
  const outcomes = await Promise.allSettled([keyring.forTenant('a'), keyring.forTenant('a')]);
  for (const outcome of outcomes) assert.equal(outcome.status === 'rejected' && outcome.reason, outage);
  isDown = false;
  assert.equal((await keyring.forTenant('a')).tenantId, 'a');
});

test('a keyring without room is refused', () => {
  for (const entriesMax of [0, -1, 1.5]) assert.throws(() => setUp(entriesMax), /assertion failed/);
});

test('remembered keys are given at once, without a promise', async () => {
  const { keyring, replaceKeys } = setUp();
  replaceKeys('a');
  const loaded = keyring.forTenant('a');
  assert.ok(loaded instanceof Promise);
  assert.equal(await loaded, keyring.forTenant('a'));
});

function fieldOf(keys: TenantKeys): { place: FieldContext; record: Buffer } {
  const place = { tenantId: keys.tenantId, kind: 'token', entityId: 'e', field: 'content', dataVersion: 1 };
  return { place, record: sealField(keys, place, Buffer.from('plain')) };
}

test('a record of a newer version than is remembered makes the keys be read once more, and opens', async () => {
  const { keyring, table, reads, replaceKeys } = setUp();
  replaceKeys('a');
  await keyring.forTenant('a');
  const rows = [...(table.get('a') ?? []), generateEncryptionKey(rootKey, 'a', 2)];
  table.set('a', rows);
  const { place, record } = fieldOf(openTenantKeys([rootKey], 'a', rows));
  const keys = await keyring.forRecords('a', [record]);
  assert.equal(openField(keys, place, record).toString(), 'plain');
  assert.equal(keyring.forRecords('a', [record]), keys, 'and is remembered');
  assert.deepEqual(reads, ['a', 'a']);
});

test('a load that began before the newer version was stored is not the last word', async () => {
  const { keyring, table, reads, replaceKeys, holdReads } = setUp();
  replaceKeys('a');
  const release = holdReads();
  const early = keyring.forTenant('a');
  const rows = [...(table.get('a') ?? []), generateEncryptionKey(rootKey, 'a', 2)];
  table.set('a', rows);
  const { record } = fieldOf(openTenantKeys([rootKey], 'a', rows));
  const asked = keyring.forRecords('a', [record]);
  release();
  await early;
  assert.equal((await asked).encryption.currentVersion, 2);
  assert.deepEqual(reads, ['a', 'a']);
});

test('a record of a version nobody has costs one more reading and no more, and does not open', async () => {
  const { keyring, reads, replaceKeys } = setUp();
  replaceKeys('a');
  const { place, record } = fieldOf(await keyring.forTenant('a'));
  record.writeUInt32BE(77, 2);
  const keys = await keyring.forRecords('a', [record, Buffer.alloc(3)]);
  assert.throws(() => openField(keys, place, record), IntegrityError);
  assert.deepEqual(reads, ['a', 'a']);
});

test('while changes cannot be heard nothing is remembered', async () => {
  const { keyring, reads, replaceKeys } = setUp();
  replaceKeys('a');
  await keyring.forTenant('a');
  let isHearing = false;
  keyring.rememberOnlyWhile(() => isHearing);
  replaceKeys('a');
  const first = await keyring.forTenant('a');
  replaceKeys('a');
  assert.notDeepEqual((await keyring.forTenant('a')).index.export(), first.index.export());
  keyring.clear();
  isHearing = true;
  assert.equal(await keyring.forTenant('a'), keyring.forTenant('a'));
  assert.deepEqual(reads, ['a', 'a', 'a', 'a']);
});

test('keys wrapped anew meanwhile open after one look at the key file', async () => {
  const fresh = parseRootKey(generateRootKey().reveal());
  let reloads = 0;
  const ring: RootKeyRing[] = [[rootKey]];
  const keyring = new Keyring({
    custody: {
      ring: () => ring[0] ?? assert.fail(),
      reload: async () => {
        reloads += 1;
        ring[0] = [fresh, rootKey];
        return ring[0];
      },
    },
    entriesMax: 10,
    loadRows: async (tenantId) => generateTenantKeys(tenantId === 'old' ? rootKey : fresh, tenantId),
  });
  await keyring.forTenant('old');
  assert.equal(reloads, 0);
  assert.equal((await keyring.forTenant('new')).tenantId, 'new');
  await keyring.forTenant('newer');
  assert.equal(reloads, 1);
});
