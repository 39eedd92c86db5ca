import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { IntegrityError } from './integrity-error.js';
import { generateRootKey, parseRootKey } from './root-key.js';
import { unwrapKey, type WrapContext, wrapKey } from './wrap.js';

const rootKey = parseRootKey(generateRootKey().reveal());
const home: WrapContext = { scope: 'tenant', tenantId: 'tenant-a', name: 'encryption', version: 1 };
const plainKey = randomBytes(32);

test('whatever key is wrapped unwraps to the same bytes', () => {
  const anyKey = fc.uint8Array({ minLength: 1, maxLength: 64 }).map((array) => Buffer.from(array));
  fc.assert(
    fc.property(anyKey, (key) => {
      assert.deepEqual(unwrapKey(rootKey, home, wrapKey(rootKey, home, key)).export(), key);
    }),
  );
});

test('wrapping leaves the given bytes alone and never shows them', () => {
  const before = Buffer.from(plainKey);
  assert.equal(wrapKey(rootKey, home, plainKey).includes(before.subarray(0, 8)), false);
  assert.deepEqual(plainKey, before);
});

test('moved to another tenant, name, version or scope, a wrapped key does not open', () => {
  const wrapped = wrapKey(rootKey, home, plainKey);
  const elsewhere: WrapContext[] = [
    { ...home, tenantId: 'tenant-b' },
    { ...home, name: 'index' },
    { ...home, version: 2 },
    { scope: 'system', name: 'encryption', version: 1 },
    { ...home, tenantId: '' },
  ];
  for (const context of elsewhere) assert.throws(() => unwrapKey(rootKey, context, wrapped), IntegrityError);
});

test('a system key does not open as the key of a tenant without an id', () => {
  const wrapped = wrapKey(rootKey, { scope: 'system', name: 'row-mac', version: 1 }, plainKey);
  const asTenant: WrapContext = { scope: 'tenant', tenantId: '', name: 'row-mac', version: 1 };
  assert.throws(() => unwrapKey(rootKey, asTenant, wrapped), IntegrityError);
});

test('under another root key, or one that only claims the id, a wrapped key does not open', () => {
  const wrapped = wrapKey(rootKey, home, plainKey);
  const other = parseRootKey(generateRootKey().reveal());
  assert.throws(() => unwrapKey(other, home, wrapped), IntegrityError);
  assert.throws(() => unwrapKey({ ...other, id: rootKey.id }, home, wrapped), IntegrityError);
  assert.throws(() => unwrapKey({ ...rootKey, id: other.id }, home, wrapped), IntegrityError);
});

test('an empty key is not wrapped', () => {
  assert.throws(() => wrapKey(rootKey, home, Buffer.alloc(0)), /assertion failed/);
});
