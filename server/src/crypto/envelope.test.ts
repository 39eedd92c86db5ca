import assert from 'node:assert/strict';
import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { readRecordHeader } from './aead.js';
import { type FieldContext, openField, sealField } from './envelope.js';
import { IntegrityError } from './integrity-error.js';
import type { TenantKeys } from './tenant-keys.js';

const newKey = () => createSecretKey(randomBytes(32));

function keysOf(tenantId: string, versions: readonly [number, KeyObject][]): TenantKeys {
  const byVersion = new Map(versions);
  const currentVersion = Math.max(...byVersion.keys());
  return { tenantId, encryption: { currentVersion, byVersion }, fingerprint: newKey(), index: newKey() };
}

const firstKey = newKey();
const keys = keysOf('tenant-a', [[1, firstKey]]);
const context: FieldContext = { tenantId: 'tenant-a', kind: 'token', entityId: 'e1', field: 'data', dataVersion: 1 };
const plaintext = Buffer.from('4242 4242 4242 4242');

test('whatever is sealed into a field opens from it', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 });
  const anyContext = fc.record({
    tenantId: fc.constant('tenant-a'),
    kind: fc.constantFrom('token', 'secret'),
    entityId: text,
    field: text,
    dataVersion: fc.integer({ min: 0, max: 0xffff_ffff }),
  });
  const anyBytes = fc.uint8Array({ maxLength: 500 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(anyContext, anyBytes, (place, bytes) => {
      assert.deepEqual(openField(keys, place, sealField(keys, place, bytes)), bytes);
    }),
  );
});

test('moved to another entity, field, kind or data version, a record does not open', () => {
  const record = sealField(keys, context, plaintext);
  for (const change of [{ entityId: 'e2' }, { field: 'meta' }, { kind: 'secret' }, { dataVersion: 2 }]) {
    assert.throws(() => openField(keys, { ...context, ...change }, record), IntegrityError);
  }
});

test('a data version rewritten in row and header alike does not open', () => {
  const record = sealField(keys, context, plaintext);
  record.writeUInt32BE(2, 6);
  assert.throws(() => openField(keys, { ...context, dataVersion: 2 }, record), IntegrityError);
});

test('in another tenant a record does not open, even under the same encryption key', () => {
  const record = sealField(keys, context, plaintext);
  for (const key of [newKey(), firstKey]) {
    const others = keysOf('tenant-b', [[1, key]]);
    assert.throws(() => openField(others, { ...context, tenantId: 'tenant-b' }, record), IntegrityError);
  }
});

test("one tenant's keys with another tenant's place are a mistake of the program, refused both ways", () => {
  const elsewhere = { ...context, tenantId: 'tenant-b' };
  assert.throws(() => sealField(keys, elsewhere, plaintext), /assertion failed/);
  assert.throws(() => openField(keys, elsewhere, sealField(keys, context, plaintext)), /assertion failed/);
});

test('after a rotation old records still open and new ones name the new key', () => {
  const old = sealField(keys, context, plaintext);
  const rotated = keysOf('tenant-a', [
    [1, firstKey],
    [2, newKey()],
  ]);
  assert.deepEqual(openField(rotated, context, old), plaintext);
  assert.equal(readRecordHeader(sealField(rotated, context, plaintext)).keyVersion, 2);
});

test('a record whose key version is gone or was rewritten does not open', () => {
  const record = sealField(keys, context, plaintext);
  assert.throws(() => openField(keysOf('tenant-a', [[2, firstKey]]), context, record), IntegrityError);
  record.writeUInt32BE(2, 2);
  const both = keysOf('tenant-a', [
    [1, firstKey],
    [2, firstKey],
  ]);
  assert.throws(() => openField(both, context, record), IntegrityError);
});
