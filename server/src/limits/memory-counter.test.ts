// alone: it measures the memory of its process

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { collectGarbage } from '../testing/collect-garbage.js';
import { LIMITS } from './catalogue.js';
import { createMemoryCounter } from './memory-counter.js';
import { createManualClock, rateCounterSuite } from './rate-counter-suite.js';
import { WINDOW_MS } from './window.js';

const SEED = Buffer.from('5eedfacecafebabe', 'hex');
const NARROW = [LIMITS.tokensSearch];
const NARROW_MAX = LIMITS.tokensSearch.requests;
const ONE_SET = 8;

function setUp(slots: number, startMs = 0) {
  const clock = createManualClock(startMs);
  const counter = createMemoryCounter({ clock, seed: SEED, slots });
  const send = (times: number, client: string) => {
    let last = counter.check(client, NARROW);
    for (let sent = 1; sent < times; sent += 1) last = counter.check(client, NARROW);
    return last;
  };
  return { clock, counter, send };
}

function heapAfterCollection(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

rateCounterSuite('a counter in memory', (clock) => createMemoryCounter({ clock, seed: SEED, slots: 1_024 }));

rateCounterSuite('a counter in memory that has run for years', (clock) => {
  const lateClock = { ...clock, monotonicMs: () => clock.monotonicMs() + 200_000_000_000 };
  return createMemoryCounter({ clock: lateClock, seed: SEED, slots: 1_024 });
});

describe('a counter in memory with more clients than slots', () => {
  it('keeps a block through a flood of other addresses', () => {
    const { clock, send } = setUp(ONE_SET);
    send(NARROW_MAX + 1, 'offender');
    for (let at = 0; at < 9_900; at += 1) {
      send(1, `flood ${at}`);
      clock.advance(1);
    }
    assert.deepEqual(send(1, 'offender'), { isAllowed: false, row: LIMITS.tokensSearch, retryAfterMs: 100 });
  });

  it('keeps what a busy client has used up through a flood of addresses that ask once', () => {
    const { clock, send } = setUp(ONE_SET);
    send(NARROW_MAX, 'busy');
    for (let at = 0; at < 9_000; at += 1) {
      send(1, `flood ${at}`);
      clock.advance(1);
    }
    assert.equal(send(1, 'busy').isAllowed, false);
  });

  it('forgets an idle client before an active one', () => {
    const { clock, send } = setUp(ONE_SET);
    send(NARROW_MAX, 'idle');
    clock.advance(WINDOW_MS);
    for (let at = 1; at < ONE_SET; at += 1) send(2, `active ${at}`);
    send(1, 'newcomer');
    for (let at = 1; at < ONE_SET; at += 1) {
      assert.equal(send(NARROW_MAX - 2, `active ${at}`).isAllowed, true);
      assert.equal(send(1, `active ${at}`).isAllowed, false, `active ${at} is remembered`);
    }
  });

  it('gives up the block that ends soonest when there are only blocks', () => {
    const { clock, send } = setUp(ONE_SET);
    for (let at = 0; at < ONE_SET; at += 1) {
      send(NARROW_MAX + 1, `blocked ${at}`);
      clock.advance(10);
    }
    assert.equal(send(1, 'newcomer').isAllowed, true);
    for (let at = 1; at < ONE_SET; at += 1) assert.equal(send(1, `blocked ${at}`).isAllowed, false);
    assert.equal(send(1, 'blocked 0').isAllowed, true);
  });

  it('never refuses a client within its limit, however crowded it is', () => {
    const client = fc.integer({ min: 0, max: 40 });
    const steps = fc.array(fc.tuple(client, fc.integer({ min: 0, max: 50 })), { maxLength: 1_000, size: 'max' });
    fc.assert(
      fc.property(steps, (schedule) => {
        const { clock, send } = setUp(ONE_SET);
        const sentAt = new Map<number, number[]>();
        for (const [each, gap] of schedule) {
          clock.advance(gap);
          const nowMs = clock.monotonicMs();
          const recent = (sentAt.get(each) ?? []).filter((at) => nowMs - at < WINDOW_MS);
          if (recent.length >= NARROW_MAX) continue;
          sentAt.set(each, [...recent, nowMs]);
          assert.equal(send(1, String(each)).isAllowed, true);
        }
      }),
      // Making a schedule this long smaller takes minutes; the seed is enough to see it again.
      { endOnFailure: true },
    );
  });

  it('takes no more memory for a quarter of a million addresses than for one', () => {
    const { send } = setUp(65_536);
    send(1, 'warm up');
    const before = heapAfterCollection();
    for (let at = 0; at < 250_000; at += 1) send(1, `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`);
    const grownBytes = heapAfterCollection() - before;
    assert.ok(grownBytes < 4_000_000, `grew by ${grownBytes} bytes`);
  });
});

describe('the size of a counter in memory', () => {
  it('is a power of two within bounds', () => {
    for (const slots of [0, 4, 100, -8, 1.5, Number.NaN, 2 ** 23]) assert.throws(() => setUp(slots), /power of two/);
  });

  it('needs a whole seed', () => {
    const clock = createManualClock();
    assert.throws(() => createMemoryCounter({ clock, seed: Buffer.alloc(7) }), /8 bytes/);
  });
});
