import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createDeferred } from './deferred.js';
import type { WholeReading } from './read-whole.js';
import { readWhole, UNCOUNTED_WHOLE_BYTES } from './read-whole.js';

const BYTES_MAX = 1_000_000;
const STEP = 32 * 1024;

/** A reading that notes what it asks for. Its time passes by hand. */
function readingOf(more: Partial<WholeReading> = {}) {
  const covered: number[] = [];
  const timers: (() => void)[] = [];
  const reading: WholeReading = {
    ...{ bytesMax: BYTES_MAX, heldTimes: 3, msMax: 30_000, timedFrom: 'start' },
    share: {
      cover(bytes) {
        covered.push(bytes);
        return undefined;
      },
    },
    tooLarge: () => new Error('too large'),
    tooSlow: () => new Error('too slow'),
    fragmented: () => new Error('fragmented'),
    after: (_ms, call) => {
      timers.push(call);
      return () => void timers.splice(timers.indexOf(call), 1);
    },
    ...more,
  };
  return { reading, covered, timers };
}

/** Pieces, and then silence. */
async function* silentBehind(...pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
  await new Promise(() => {});
}

async function* piecesOf(count: number, bytes: number, onEnd = (): void => {}): AsyncGenerator<Buffer> {
  try {
    for (let at = 0; at < count; at += 1) yield Buffer.alloc(bytes, at % 251);
  } finally {
    onEnd();
  }
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

describe('reading whole', () => {
  it('asks for room as the bytes come, in steps, for what is longer than a little', async () => {
    const { reading, covered, timers } = readingOf();
    assert.equal((await readWhole(piecesOf(4, UNCOUNTED_WHOLE_BYTES / 4), reading)).length, UNCOUNTED_WHOLE_BYTES);
    assert.deepEqual(covered, []);
    await readWhole(piecesOf(7, UNCOUNTED_WHOLE_BYTES / 4), reading);
    assert.deepEqual(covered, [STEP * 3, STEP * 3, 2 * STEP * 3]);
    assert.equal(timers.length, 0, 'no timer is left');
  });

  it('has every byte in its place, also of many small pieces', async () => {
    const { reading } = readingOf();
    const whole = await readWhole(piecesOf(5_000, 64), reading);
    assert.equal(whole.length, 320_000);
    assert.ok(whole.every((byte, at) => byte === Math.floor(at / 64) % 251));
    assert.equal((await readWhole(piecesOf(0, 0), reading)).length, 0);
    async function* mixed() {
      for (let at = 0; at < 1_200; at += 1) yield Buffer.alloc(at % 50 === 0 ? 5_000 : 2, at % 251);
    }
    const expected: Buffer[] = [];
    for await (const piece of mixed()) expected.push(piece);
    assert.ok((await readWhole(mixed(), reading)).equals(Buffer.concat(expected)));
  });

  it('fails for more than a thousand pieces that are very small on average', async () => {
    const { reading } = readingOf();
    assert.equal((await readWhole(piecesOf(1_000, 1), reading)).length, 1_000);
    await assert.rejects(readWhole(piecesOf(1_001, 63), reading), /fragmented/);
  });

  it('reads on only when there is room', async () => {
    const room = createDeferred<void>();
    const { reading } = readingOf({ share: { cover: () => room.promise } });
    let taken = 0;
    async function* counted() {
      for await (const piece of piecesOf(3, UNCOUNTED_WHOLE_BYTES + 1)) {
        taken += 1;
        yield piece;
      }
    }
    const whole = readWhole(counted(), reading);
    await settle();
    assert.equal(taken, 1);
    room.resolve();
    assert.equal((await whole).length, 3 * (UNCOUNTED_WHOLE_BYTES + 1));
  });

  it('fails for more bytes than it may have, without asking for room for them, and leaves the source', async () => {
    const { reading, covered, timers } = readingOf({ bytesMax: 10 });
    let isLeft = false;
    const source = piecesOf(2, UNCOUNTED_WHOLE_BYTES * 2, () => {
      isLeft = true;
    });
    await assert.rejects(readWhole(source, reading), /too large/);
    assert.deepEqual([covered, isLeft, timers.length], [[], true, 0]);
  });

  it('fails when the time is over, though the source says nothing', async () => {
    const { reading, timers } = readingOf();
    const whole = assert.rejects(readWhole(silentBehind(Buffer.alloc(1)), reading), /too slow/);
    await settle();
    timers[0]?.();
    await whole;
  });

  it('fails also when the time is over while it waits for room', async () => {
    const room = createDeferred<void>();
    const { reading, timers } = readingOf({ share: { cover: () => room.promise } });
    const whole = assert.rejects(readWhole(piecesOf(2, UNCOUNTED_WHOLE_BYTES + 1), reading), /too slow/);
    await settle();
    timers[0]?.();
    room.resolve();
    await whole;
  });

  it('has no timer for a little where time begins with the room it takes', async () => {
    const { reading, timers } = readingOf({ timedFrom: 'room' });
    void readWhole(silentBehind(Buffer.alloc(UNCOUNTED_WHOLE_BYTES)), reading);
    const whole = assert.rejects(readWhole(silentBehind(Buffer.alloc(UNCOUNTED_WHOLE_BYTES + 1)), reading), /slow/);
    await settle();
    assert.equal(timers.length, 1);
    timers[0]?.();
    await whole;
  });

  it('what the source throws, or whoever gives room, is what fails', async () => {
    const { reading, timers } = readingOf({ share: { cover: () => Promise.reject(new Error('no room')) } });
    await assert.rejects(readWhole(piecesOf(2, UNCOUNTED_WHOLE_BYTES), reading), /no room/);
    const broken = (async function* () {
      yield Buffer.alloc(1);
      throw new Error('broke');
    })();
    await assert.rejects(readWhole(broken, reading), /broke/);
    assert.equal(timers.length, 0);
  });
});
