import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createBudget } from './budget.js';
import { refusal } from './expressions-fixture.js';
import { createLru } from './lru.js';

describe('a budget', () => {
  it('ends what spends more than there is, and stays ended', () => {
    const budget = createBudget(100);
    budget.spend(100);
    assert.equal(budget.isExhausted(), false);
    assert.match(
      refusal(() => budget.spend(1)),
      /too much work/,
    );
    assert.equal(budget.isExhausted(), true);
    refusal(() => budget.spend(0));
  });

  it('hands out nothing for a count that is negative or no number', () => {
    for (const count of [-1, Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]) {
      const budget = createBudget(100);
      refusal(() => budget.spend(count));
      assert.equal(budget.isExhausted(), true, String(count));
    }
  });

  it('bounds results apart from work, and names that bound', () => {
    const budget = createBudget(1_000, 10);
    budget.emit(10);
    assert.match(
      refusal(() => budget.emit(1)),
      /10 bytes/,
    );
    assert.equal(budget.isExhausted(), true);
  });
});

describe('the memory of compiled expressions', () => {
  it('is bounded, and keeps what is used', () => {
    const memory = createLru<number>(10);
    memory.set('kept', 0);
    for (let at = 1; at < 1_000; at += 1) {
      memory.set(`k${at}`, at);
      assert.equal(memory.get('kept'), 0);
      assert.ok(memory.size() <= 10);
    }
    assert.equal(memory.get('k1'), undefined);
    assert.equal(memory.get('k999'), 999);
  });
});
