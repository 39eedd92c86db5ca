import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Clock } from '../kernel/clock.js';
import { LIMITS, type LimitRow } from './catalogue.js';
import type { RateCounter, Verdict } from './rate-counter.js';
import { SLICE_MS, WINDOW_MS } from './window.js';

/** A clock that moves only when told. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
  jumpWall(ms: number): void;
}

export type CreateCounter = (clock: Clock) => RateCounter | Promise<RateCounter>;

const CLIENT = '192.0.2.1';
const ONLY_GLOBAL = [LIMITS.global];
const SEARCH = [LIMITS.global, LIMITS.tokensSearch];
const LIST = [LIMITS.global, LIMITS.tokensList];
const PORTAL = [LIMITS.global, LIMITS.portal];
const PORTAL_LIST = [LIMITS.global, LIMITS.portal, LIMITS.tokensList];
const NARROW = [LIMITS.tokensSearch];
const NARROW_MAX = LIMITS.tokensSearch.requests;

/** Gaps between requests: mostly bursts, some pauses, a few longer than the window. */
const gaps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.double({ min: 0, max: 5, noNaN: true }) },
    { weight: 2, arbitrary: fc.double({ min: 0, max: 400, noNaN: true }) },
    { weight: 1, arbitrary: fc.integer({ min: 0, max: 200 }).map((slices) => slices * SLICE_MS) },
  ),
  { minLength: 1, maxLength: 300, size: 'max' },
);

export function createManualClock(startMs = 0): ManualClock {
  let wallMs = 1_700_000_000_000;
  let monotonicMs = startMs;
  return {
    nowMs: () => wallMs,
    monotonicMs: () => monotonicMs,
    advance(ms) {
      wallMs += ms;
      monotonicMs += ms;
    },
    jumpWall(ms) {
      wallMs += ms;
    },
  };
}

/** What every counter must do. `create` makes an empty one that takes its time from the given clock. */
export function rateCounterSuite(name: string, create: CreateCounter): void {
  async function setUp() {
    const clock = createManualClock();
    const counter = await create(clock);
    async function send(times: number, rows: readonly LimitRow[], client = CLIENT): Promise<void> {
      for (let sent = 0; sent < times; sent += 1) await counter.check(client, rows);
    }
    async function assertPasses(times: number, rows: readonly LimitRow[], client = CLIENT): Promise<void> {
      for (let sent = 1; sent <= times; sent += 1) {
        assert.deepEqual(await counter.check(client, rows), { isAllowed: true }, `request ${sent} of ${times}`);
      }
    }
    async function assertRefused(rows: readonly LimitRow[], by: LimitRow, retryAfterMs: number): Promise<void> {
      const expected: Verdict = { isAllowed: false, row: by, retryAfterMs };
      assert.deepEqual(await counter.check(CLIENT, rows), expected);
    }
    return { clock, counter, send, assertPasses, assertRefused };
  }

  describe(name, () => {
    for (const row of Object.values(LIMITS)) {
      it(`lets ${row.requests} requests pass in ${row.name} and refuses the next for the whole block`, async () => {
        const { assertPasses, assertRefused } = await setUp();
        await assertPasses(row.requests, [row]);
        await assertRefused([row], row, row.blockMs);
      });
    }

    it('keeps a block for its time and not a moment longer, then gives the whole allowance', async () => {
      const { clock, send, assertPasses, assertRefused } = await setUp();
      await send(NARROW_MAX + 1, NARROW);
      clock.advance(LIMITS.tokensSearch.blockMs - 1);
      await assertRefused(NARROW, LIMITS.tokensSearch, 1);
      clock.advance(1);
      await assertPasses(NARROW_MAX, NARROW);
      await assertRefused(NARROW, LIMITS.tokensSearch, LIMITS.tokensSearch.blockMs);
    });

    it('neither prolongs a block nor counts when a blocked client goes on asking', async () => {
      const { clock, send, assertPasses } = await setUp();
      await send(NARROW_MAX + 1, NARROW);
      for (let waited = 0; waited < LIMITS.tokensSearch.blockMs; waited += SLICE_MS) {
        await send(5, NARROW);
        clock.advance(SLICE_MS);
      }
      await assertPasses(NARROW_MAX, NARROW);
    });

    it('forgets a request once it is ten seconds old, wherever in a slice it fell', async () => {
      for (const startMs of [0, 1, 50, 99.9, 12_345.678]) {
        const { clock, assertPasses } = await setUp();
        clock.advance(startMs);
        for (let round = 0; round < 5; round += 1) {
          await assertPasses(NARROW_MAX, NARROW);
          clock.advance(WINDOW_MS);
        }
      }
    });

    it('remembers a request for all but the last slice of ten seconds', async () => {
      for (const startMs of [0, 1, 50, 99.9, 12_345.678]) {
        const { clock, send, assertRefused } = await setUp();
        clock.advance(startMs);
        await send(NARROW_MAX, NARROW);
        clock.advance(WINDOW_MS - SLICE_MS - 0.01);
        await assertRefused(NARROW, LIMITS.tokensSearch, LIMITS.tokensSearch.blockMs);
      }
    });

    it('never refuses a client within its limit, whatever its schedule', async () => {
      await fc.assert(
        fc.asyncProperty(gaps, async (schedule) => {
          const { clock, counter } = await setUp();
          const sentAt: number[] = [];
          for (const gap of schedule) {
            clock.advance(gap);
            const nowMs = clock.monotonicMs();
            const recent = sentAt.filter((at) => nowMs - at < WINDOW_MS).length;
            if (recent >= NARROW_MAX) continue;
            sentAt.push(nowMs);
            assert.deepEqual(await counter.check(CLIENT, NARROW), { isAllowed: true });
          }
        }),
      );
    });

    it('lets no more than the limit pass in any span of 9.9 seconds, and blocks only who went over', async () => {
      await fc.assert(
        fc.asyncProperty(gaps, async (schedule) => {
          const { clock, counter } = await setUp();
          let passedAt: number[] = [];
          let blockedUntil = 0;
          for (const gap of schedule) {
            clock.advance(gap);
            const nowMs = clock.monotonicMs();
            const verdict = await counter.check(CLIENT, NARROW);
            const within = (spanMs: number) => passedAt.filter((at) => nowMs - at < spanMs).length;
            if (nowMs < blockedUntil) {
              assert.equal(verdict.isAllowed, false);
            } else if (verdict.isAllowed) {
              assert.ok(within(WINDOW_MS - SLICE_MS) < NARROW_MAX);
              passedAt.push(nowMs);
            } else {
              assert.ok(within(WINDOW_MS) >= NARROW_MAX);
              blockedUntil = nowMs + LIMITS.tokensSearch.blockMs;
              passedAt = [];
            }
          }
        }),
      );
    });

    it('counts each client by itself', async () => {
      const { send, assertPasses, assertRefused } = await setUp();
      await send(NARROW_MAX + 1, NARROW);
      await assertRefused(NARROW, LIMITS.tokensSearch, LIMITS.tokensSearch.blockMs);
      for (const client of ['192.0.2.2', '2001:db8::/64', '2001:db8:0:1::/64', 'unknown', '']) {
        await assertPasses(NARROW_MAX, NARROW, client);
      }
    });

    it('counts each limit by itself', async () => {
      const { send, assertPasses, assertRefused } = await setUp();
      await send(NARROW_MAX + 1, SEARCH);
      await assertRefused(SEARCH, LIMITS.tokensSearch, LIMITS.tokensSearch.blockMs);
      await assertPasses(LIMITS.tokensList.requests, LIST);
      await assertPasses(LIMITS.tokensCreate.requests, [LIMITS.global, LIMITS.tokensCreate]);
      await assertPasses(100, ONLY_GLOBAL);
    });

    it('counts in the first limit what a narrower one refuses', async () => {
      const { send, assertPasses, assertRefused } = await setUp();
      await send(LIMITS.global.requests - 1, SEARCH);
      await assertPasses(1, ONLY_GLOBAL);
      await assertRefused(ONLY_GLOBAL, LIMITS.global, LIMITS.global.blockMs);
    });

    it('counts nowhere else what the first limit refuses', async () => {
      const { clock, send, assertPasses } = await setUp();
      await send(LIMITS.global.requests + 1, ONLY_GLOBAL);
      clock.advance(LIMITS.global.blockMs - 1);
      await send(NARROW_MAX * 2, SEARCH);
      clock.advance(1);
      await assertPasses(NARROW_MAX, SEARCH);
    });

    it('does not count in a narrower limit the very request that goes over the first', async () => {
      const { clock, send, assertPasses } = await setUp();
      await send(LIMITS.global.requests, ONLY_GLOBAL);
      await send(1, SEARCH);
      clock.advance(LIMITS.global.blockMs);
      await assertPasses(NARROW_MAX, SEARCH);
    });

    it('counts in the other narrow limits what one of them refuses', async () => {
      const { send, assertRefused } = await setUp();
      await send(LIMITS.portal.requests + 1, PORTAL);
      await send(LIMITS.tokensList.requests, PORTAL_LIST);
      await assertRefused(LIST, LIMITS.tokensList, LIMITS.tokensList.blockMs);
    });

    it('answers with the longest of several blocks, whichever limit it belongs to', async () => {
      const { clock, send, assertRefused } = await setUp();
      await send(LIMITS.tokensList.requests + 1, LIST);
      clock.advance(4_000);
      await send(LIMITS.portal.requests + 1, PORTAL);
      clock.advance(1_000);
      await assertRefused(PORTAL_LIST, LIMITS.portal, 9_000);
      clock.advance(60_000);
      await send(LIMITS.portal.requests + 1, PORTAL);
      clock.advance(4_000);
      await send(LIMITS.tokensList.requests + 1, LIST);
      clock.advance(1_000);
      await assertRefused(PORTAL_LIST, LIMITS.tokensList, 9_000);
      await assertRefused(PORTAL, LIMITS.portal, 5_000);
    });

    it('shows the longer block of a narrow limit while the first refuses', async () => {
      const long: LimitRow = { ...LIMITS.tokensSearch, blockMs: 60_000 };
      const { send, assertRefused } = await setUp();
      await send(NARROW_MAX + 1, [LIMITS.global, long]);
      await send(LIMITS.global.requests, ONLY_GLOBAL);
      await assertRefused([LIMITS.global, long], long, 60_000);
      await assertRefused(ONLY_GLOBAL, LIMITS.global, LIMITS.global.blockMs);
    });

    it('takes no notice of a wall clock that jumps', async () => {
      const { clock, send, assertPasses, assertRefused } = await setUp();
      await assertPasses(NARROW_MAX - 1, NARROW);
      clock.jumpWall(3_600_000);
      await assertPasses(1, NARROW);
      clock.jumpWall(-7_200_000);
      await assertRefused(NARROW, LIMITS.tokensSearch, LIMITS.tokensSearch.blockMs);
      clock.jumpWall(86_400_000);
      await send(1, NARROW);
      clock.advance(1_000);
      await assertRefused(NARROW, LIMITS.tokensSearch, LIMITS.tokensSearch.blockMs - 1_000);
    });

    it('has nothing against a client that was away for long', async () => {
      const { clock, assertPasses } = await setUp();
      await assertPasses(NARROW_MAX, NARROW);
      clock.advance(86_400_000);
      await assertPasses(NARROW_MAX, NARROW);
    });
  });
}
