import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { BodyCollector, FragmentWatch } from './body-collector.js';

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
  /** After how many pieces of these sizes, one behind the other, they are too small; undefined for never. */
  function refusedAt(sizes: Iterable<number>): number | undefined {
    const watch = new FragmentWatch();
    let pieces = 0;
    for (const bytes of sizes) {
      pieces += 1;
      if (watch.add(bytes)) return pieces;
    }
    return undefined;
  }
  const many = (count: number, bytes: number): number[] => Array(count).fill(bytes);

  it('are too small where a thousand of them have less than 64 bytes on average and more come', () => {
    assert.equal(refusedAt(many(1_000, 1)), undefined);
    assert.equal(refusedAt(many(1_001, 1)), 1_001);
    assert.equal(refusedAt(many(20_000, 64)), undefined);
    assert.equal(refusedAt(many(20_000, 63)), 1_001);
  });

  it('are too small behind a large one as well', () => {
    assert.equal(refusedAt([900_000, ...many(12_000, 1)]), 2_001);
  });
});
