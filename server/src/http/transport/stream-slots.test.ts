import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AppError } from '../../kernel/errors.js';
import { CALLER } from '../../testing/route-server.js';
import { createStreamSlots } from './stream-slots.js';
import type { Sender } from './tally.js';

const isOverloaded = (error: unknown): boolean => error instanceof AppError && error.code === 'overloaded';
const OTHER = { ...CALLER, tenantId: '2fff6405-e772-4f90-afd5-65b6f8a2f156' };

/** Sixteen of all, four of a tenant, two of those for its strangers. */
function slotsOf() {
  const slots = createStreamSlots({ max: 16, onTake: () => {} });
  let count = 0;
  return {
    ...slots,
    open(principal?: Sender['principal']): Sender {
      count += 1;
      const sender: Sender = { limitKey: `192.0.2.${count}`, principal, hasPlace: false };
      slots.take(sender);
      return sender;
    },
  };
}

describe('slots of streams', () => {
  it('one without a key counts for the tenant it is for, in a part that leaves room for callers with a key', () => {
    const slots = slotsOf();
    const strangers = [slots.open(), slots.open()];
    for (const each of strangers) slots.assign(each, CALLER.tenantId);
    const third = slots.open();
    assert.throws(() => slots.assign(third, CALLER.tenantId), isOverloaded);
    slots.assign(third, OTHER.tenantId);
    const own = [slots.open(CALLER), slots.open(CALLER)];
    assert.throws(() => slots.open(CALLER), isOverloaded);
    for (const each of [...strangers, third, ...own]) slots.leave(each);
    assert.equal(slots.taken(), 0);
    for (let count = 0; count < 4; count += 1) slots.open(CALLER);
  });

  it('those of whom nothing is known yet are bounded, and being known makes room for the next', () => {
    const slots = slotsOf();
    const [first] = Array.from({ length: 4 }, () => slots.open());
    assert.ok(first);
    assert.throws(() => slots.open(), isOverloaded);
    slots.assign(first, CALLER.tenantId);
    slots.open();
  });

  it('one that has left is not counted when its tenant is known too late, nor is one counted twice', () => {
    const slots = slotsOf();
    const left = slots.open();
    slots.leave(left);
    slots.assign(left, CALLER.tenantId);
    const twice = slots.open();
    slots.assign(twice, CALLER.tenantId);
    slots.assign(twice, OTHER.tenantId);
    const second = slots.open();
    slots.assign(second, CALLER.tenantId);
    for (const each of [twice, second]) slots.leave(each);
    for (let count = 0; count < 4; count += 1) slots.open();
    assert.throws(() => slots.open(), isOverloaded);
    for (let count = 0; count < 4; count += 1) slots.open(CALLER);
  });
});
