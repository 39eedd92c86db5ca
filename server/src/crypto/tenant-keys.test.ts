import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { IntegrityError } from './integrity-error.js';
import { generateRootKey, parseRootKey } from './root-key.js';
import { generateTenantKeys, openTenantKeys, TENANT_KEY_KINDS, type TenantKeyRow } from './tenant-keys.js';
import { wrapKey } from './wrap.js';

const rootKey = parseRootKey(generateRootKey().reveal());
const tenantId = 'tenant-a';

function rowOf(kind: string, version: number, bytes = randomBytes(32)): TenantKeyRow {
  return { kind, version, wrapped: wrapKey(rootKey, { scope: 'tenant', tenantId, name: kind, version }, bytes) };
}

test('a new tenant gets a first version of every kind, each key its own', () => {
  const rows = generateTenantKeys(rootKey, tenantId);
  assert.deepEqual(
    rows.map(({ kind, version }) => [kind, version]),
    TENANT_KEY_KINDS.map((kind) => [kind, 1]),
  );
  const { encryption, fingerprint, index } = openTenantKeys([rootKey], tenantId, rows);
  const keys = [...encryption.byVersion.values(), fingerprint, index].map((key) => key.export().toString('hex'));
  assert.equal(encryption.currentVersion, 1);
  assert.equal(new Set(keys).size, 3);
  assert.ok(keys.every((key) => key.length === 64));
});

test('generated a second time for the same tenant the keys are others, so destroyed ones stay destroyed', () => {
  const keyOf = () => openTenantKeys([rootKey], tenantId, generateTenantKeys(rootKey, tenantId)).fingerprint.export();
  assert.notDeepEqual(keyOf(), keyOf());
});

test('with several encryption keys the highest version is current and all of them open', () => {
  const rows = [...generateTenantKeys(rootKey, tenantId), rowOf('encryption', 10), rowOf('encryption', 9)];
  const { encryption } = openTenantKeys([rootKey], tenantId, rows);
  assert.equal(encryption.currentVersion, 10);
  assert.deepEqual([...encryption.byVersion.keys()].sort(), [1, 10, 9]);
});

test('a missing kind is an integrity fault', () => {
  const rows = generateTenantKeys(rootKey, tenantId);
  for (const kind of TENANT_KEY_KINDS) {
    const rest = rows.filter((row) => row.kind !== kind);
    assert.throws(() => openTenantKeys([rootKey], tenantId, rest), IntegrityError);
  }
});

test('a second fingerprint or index key is an integrity fault, not a silent choice', () => {
  for (const kind of ['fingerprint', 'index']) {
    const rows = [...generateTenantKeys(rootKey, tenantId), rowOf(kind, 2)];
    assert.throws(() => openTenantKeys([rootKey], tenantId, rows), IntegrityError);
  }
});

test('rows of another tenant do not open', () => {
  const rows = generateTenantKeys(rootKey, 'tenant-b');
  assert.throws(() => openTenantKeys([rootKey], tenantId, rows), IntegrityError);
});

test('rows with their kind or version rewritten do not open', () => {
  const [encryption, fingerprint, index] = generateTenantKeys(rootKey, tenantId);
  assert.ok(encryption && fingerprint && index);
  const swapped = [encryption, { ...fingerprint, kind: 'index' }, { ...index, kind: 'fingerprint' }];
  assert.throws(() => openTenantKeys([rootKey], tenantId, swapped), IntegrityError);
  const renumbered = [{ ...encryption, version: 2 }, fingerprint, index];
  assert.throws(() => openTenantKeys([rootKey], tenantId, renumbered), IntegrityError);
});

test('rows of a kind this release does not know are left alone', () => {
  const rows = [...generateTenantKeys(rootKey, tenantId), { kind: 'later', version: 1, wrapped: Buffer.alloc(0) }];
  assert.equal(openTenantKeys([rootKey], tenantId, rows).tenantId, tenantId);
});
