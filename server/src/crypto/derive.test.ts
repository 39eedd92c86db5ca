import assert from 'node:assert/strict';
import { createSecretKey, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { deriveMessageKey, type MessageKeyContext } from './derive.js';

const parent = createSecretKey(randomBytes(32));
const context = { kind: 'token', entityId: 'e', field: 'data', dataVersion: 1 };
const derive = (changes: Partial<MessageKeyContext>, from = parent) =>
  deriveMessageKey(from, { ...context, ...changes });

test('the same message always gets the same key of 32 bytes', () => {
  assert.equal(derive({}).length, 32);
  assert.deepEqual(derive({}), derive({}));
});

test('a change of any one part gives an unrelated key', () => {
  const changed = [{ kind: 'other' }, { entityId: 'f' }, { field: 'other' }, { dataVersion: 2 }];
  const keys = [derive({}), ...changed.map((change) => derive(change))];
  assert.equal(new Set(keys.map((key) => key.toString('hex'))).size, changed.length + 1);
});

test('another parent gives another key', () => {
  assert.notDeepEqual(derive({}), derive({}, createSecretKey(randomBytes(32))));
});

test('two contexts share a key only when they are the same', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '1'), maxLength: 3 });
  const anyContext = fc.record({ kind: text, entityId: text, field: text, dataVersion: fc.nat(30) });
  fc.assert(
    fc.property(anyContext, anyContext, (a, b) => {
      assert.equal(derive(a).equals(derive(b)), JSON.stringify(a) === JSON.stringify(b));
    }),
    { numRuns: 500 },
  );
});

test('a data version that does not fit four bytes is refused', () => {
  for (const dataVersion of [-1, 0.5, 2 ** 32]) assert.throws(() => derive({ dataVersion }), /data version/);
});
