import assert from 'node:assert/strict';
import { createHmac, createSecretKey } from 'node:crypto';
import { test } from 'node:test';
import { createClientHash } from './client-hash.js';

const KEY = createSecretKey(Buffer.alloc(32, 7));

test('every node of an installation has the same hash of an address, and another installation another', () => {
  const hash = createClientHash(KEY)('192.0.2.1');
  assert.match(hash, /^[\w-]{22}$/);
  assert.equal(createClientHash(KEY)('192.0.2.1'), hash);
  assert.notEqual(createClientHash(createSecretKey(Buffer.alloc(32, 8)))('192.0.2.1'), hash);
  assert.notEqual(createClientHash(KEY)('192.0.2.2'), hash);
});

test('the key of the hash is not the one it is derived from', () => {
  const plain = createHmac('sha256', KEY).update('192.0.2.1').digest('base64url');
  assert.ok(!plain.startsWith(createClientHash(KEY)('192.0.2.1')));
});
