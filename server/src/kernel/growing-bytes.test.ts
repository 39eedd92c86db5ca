import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from './errors.js';
import type { GrowingBytesOptions } from './growing-bytes.js';
import { createGrowingBytes } from './growing-bytes.js';

/** Two rooms of 40 bytes, 20 of each for one owner; nobody needs more than 10. Its time passes by hand. */
function bytesOf(options: Partial<GrowingBytesOptions> = {}) {
  const due: (() => void)[] = [];
  const bytes = createGrowingBytes({
    ...{ wholeBytes: 10, wholesMax: 4, ownerWholesMax: 2, waitingMax: 100, ownerWaitingMax: 50, waitMaxMs: 1_000 },
    after: (_ms, call) => {
      due.push(call);
      return () => void due.splice(due.indexOf(call), 1);
    },
    ...options,
  });
  return { bytes, runOut: () => due.shift()?.() };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const isOverloaded = (error: unknown): boolean => error instanceof AppError && error.code === 'overloaded';

describe('bytes that grow', () => {
  it('a share has what it covers, at once and no more, and gives it back once', () => {
    const { bytes } = bytesOf();
    const share = bytes.open('a');
    assert.equal(bytes.taken(), 0);
    for (const covered of [1, 4, 3]) assert.equal(share.cover(covered), undefined);
    assert.equal(bytes.taken(), 4);
    share.release();
    share.release();
    assert.equal(share.cover(9), undefined);
    assert.equal(bytes.taken(), 0, 'over is over');
  });

  it('many that hold little leave room for one that needs all it may', () => {
    const { bytes } = bytesOf();
    for (const owner of ['a', 'b']) for (let count = 0; count < 15; count += 1) bytes.open(owner).cover(1);
    assert.equal(bytes.open('c').cover(10), undefined);
    assert.deepEqual([bytes.taken(), bytes.waiting()], [40, 0]);
  });

  it('more than fit at once all come to their end, though each keeps what it has while it waits', async () => {
    const { bytes } = bytesOf();
    let most = 0;
    let ended = 0;
    const grow = async (owner: string): Promise<void> => {
      const share = bytes.open(owner);
      for (let covered = 1; covered <= 10; covered += 1) {
        await (share.cover(covered) ?? settle());
        most = Math.max(most, bytes.taken());
      }
      share.release();
      ended += 1;
    };
    await Promise.all(['a', 'b', 'c', 'd'].flatMap((owner) => Array.from({ length: 10 }, () => grow(owner))));
    assert.deepEqual([ended, bytes.taken(), bytes.waiting()], [40, 0, 0]);
    assert.ok(most > 40 && most <= 80, `${most} bytes`);
  });

  it('one owner has half, and another is served at once meanwhile', async () => {
    const { bytes } = bytesOf();
    const own = Array.from({ length: 4 }, () => bytes.open('a'));
    for (const share of own.slice(0, 2)) assert.equal(share.cover(10), undefined);
    for (const share of own.slice(2)) await share.cover(1);
    assert.equal(bytes.taken(), 40);
    const waiting = bytes.open('a').cover(1);
    assert.ok(waiting);
    assert.equal(bytes.open('b').cover(10), undefined);
    assert.equal(bytes.waiting(), 1);
    own[3]?.release();
    await waiting;
    assert.equal(bytes.waiting(), 0);
  });

  it('what has a place gives back what it grew to, and asks for nothing more', async () => {
    const { bytes } = bytesOf();
    const first = bytes.open('a');
    first.cover(6);
    const second = bytes.open('a');
    second.cover(10);
    bytes.open('a').cover(4);
    await first.cover(7);
    assert.equal(bytes.taken(), 10 + 14);
    assert.equal(first.cover(10), undefined);
    assert.equal(bytes.open('a').cover(6), undefined);
  });

  it('503 after the longest wait, and nothing is taken for one that was given back while it waited', async () => {
    const { bytes, runOut } = bytesOf({ ownerWholesMax: 1 });
    const [grown, placed, late, left] = Array.from({ length: 4 }, () => bytes.open('a'));
    assert.ok(grown && placed && late && left);
    grown.cover(10);
    await placed.cover(1);
    const refused = assert.rejects(late.cover(1) ?? Promise.resolve(), isOverloaded);
    const given = left.cover(1);
    left.release();
    runOut();
    await refused;
    late.release();
    placed.release();
    await given;
    grown.release();
    assert.deepEqual([bytes.taken(), bytes.waiting()], [0, 0]);
  });
});
