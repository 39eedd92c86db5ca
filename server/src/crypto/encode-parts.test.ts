import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeAssociatedData } from './associated-data.js';
import { encodeParts } from './encode-parts.js';

const anyText = () => fc.string({ unit: 'binary', maxLength: 12 });
const anyParts = () => fc.array(anyText(), { maxLength: 5 });
const anyContext = () => {
  // Few letters, so that shifted borders between the fields are drawn often.
  const text = fc.oneof(fc.string({ unit: fc.constantFrom('a', 'b', '\0'), maxLength: 4 }), anyText());
  const kind = text.filter((value) => value !== '');
  return fc.record({ tenantId: text, kind, entityId: text, field: text });
};

function decode(encoded: Buffer): string[] {
  const parts: string[] = [];
  for (let offset = 0; offset < encoded.length; ) {
    const end = offset + 4 + encoded.readUInt32BE(offset);
    parts.push(encoded.toString('utf8', offset + 4, end));
    offset = end;
  }
  return parts;
}

test('any list of parts can be read back from its encoding, so no two lists share one', () => {
  fc.assert(fc.property(anyParts(), (parts) => assert.deepEqual(decode(encodeParts(parts)), parts)));
});

test('two contexts encode alike only when they are the same', () => {
  fc.assert(
    fc.property(anyContext(), anyContext(), (a, b) => {
      const isSame = JSON.stringify(a) === JSON.stringify(b);
      assert.equal(encodeAssociatedData(a).equals(encodeAssociatedData(b)), isSame);
    }),
    { numRuns: 2000 },
  );
});

test('text moved across the border of two fields changes the encoding', () => {
  const base = { tenantId: 't', kind: 'k', entityId: 'ab', field: 'c' };
  assert.notDeepEqual(encodeAssociatedData(base), encodeAssociatedData({ ...base, entityId: 'a', field: 'bc' }));
  assert.notDeepEqual(encodeAssociatedData(base), encodeAssociatedData({ ...base, entityId: 'abc', field: '' }));
  assert.notDeepEqual(encodeParts(['a', '']), encodeParts(['a']));
});

test('bytes and the text they spell encode alike', () => {
  assert.deepEqual(encodeParts(['größer', Buffer.from('x')]), encodeParts([Buffer.from('größer'), 'x']));
});

test('text that UTF-8 cannot keep apart is refused', () => {
  assert.throws(() => encodeParts(['\ud800']), /well-formed/);
  assert.throws(() => encodeParts(['a\udc00b']), /well-formed/);
  assert.doesNotThrow(() => encodeParts(['\ud83d\ude00']));
});

test('a record without a kind is refused', () => {
  assert.throws(() => encodeAssociatedData({ tenantId: 't', kind: '', entityId: 'e', field: 'f' }), /kind/);
});
