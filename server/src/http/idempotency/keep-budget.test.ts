import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeClock } from '../../testing/fake-clock.js';
import { createKeepBudget, LARGE_BYTES_MAX, SMALL_BYTES_MAX } from './keep-budget.js';

const HOUR_MS = 3_600_000;
const MEBIBYTE = 1_048_576;

describe('how much is kept of large answers', () => {
  const fill = (isRoomFor: (tenantId: string, bytes: number) => boolean, tenantId: string): number => {
    let kept = 0;
    while (isRoomFor(tenantId, MEBIBYTE)) kept += MEBIBYTE;
    return kept;
  };

  it('so much for each tenant and then no more; small ones always, and other tenants notice nothing', () => {
    const isRoomFor = createKeepBudget(createFakeClock(0));
    assert.equal(fill(isRoomFor, 'a'), LARGE_BYTES_MAX);
    assert.equal(isRoomFor('a', SMALL_BYTES_MAX + 1), false);
    assert.equal(isRoomFor('a', SMALL_BYTES_MAX), true);
    assert.equal(fill(isRoomFor, 'b'), LARGE_BYTES_MAX);
  });

  it('as much again in an hour, a share of it in a share of one, and never more than at the start', () => {
    const clock = createFakeClock(0);
    const isRoomFor = createKeepBudget(clock);
    fill(isRoomFor, 'a');
    clock.advance(HOUR_MS / 4);
    assert.equal(fill(isRoomFor, 'a'), LARGE_BYTES_MAX / 4);
    clock.advance(10 * HOUR_MS);
    assert.equal(fill(isRoomFor, 'a'), LARGE_BYTES_MAX);
  });
});
