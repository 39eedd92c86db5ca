import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BodyCollector, isFragmented } from './body-collector.js';

describe('a body collector', () => {
  it('returns every byte in its place, whatever the sizes of the pieces, and is empty afterwards', () => {
    const size = fc.oneof(fc.nat({ max: 10 }), fc.integer({ min: 4_000, max: 4_200 }), fc.nat({ max: 20_000 }));
    fc.assert(
      fc.property(fc.array(size, { maxLength: 400 }), (sizes) => {
        const collector = new BodyCollector();
        const pieces = sizes.map((bytes, at) => Buffer.alloc(bytes, at % 251));
        for (const piece of pieces) collector.add(piece);
        const expected = Buffer.concat(pieces);
        assert.equal(collector.bytes, expected.length);
        assert.ok(collector.take().equals(expected));
        assert.equal(collector.bytes, 0);
        assert.equal(collector.take().length, 0);
      }),
      { numRuns: 200 },
    );
  });

  it('forgets what it was told to', () => {
    const collector = new BodyCollector();
    collector.add(Buffer.from('a'));
    collector.clear();
    collector.add(Buffer.from('b'));
    assert.equal(collector.take().toString(), 'b');
  });
});

describe('pieces of a body', () => {
  it('are too small above a thousand of them with less than 64 bytes on average', () => {
    const cases = [
      { pieces: 1_000, bytes: 1_000, expected: false },
      { pieces: 1_001, bytes: 1_000 * 64, expected: false },
      { pieces: 1_001, bytes: 1_000 * 64 - 1, expected: true },
      { pieces: 100_000, bytes: 100_000, expected: true },
    ];
    for (const { pieces, bytes, expected } of cases) assert.equal(isFragmented(pieces, bytes), expected, `${pieces}`);
  });
});
