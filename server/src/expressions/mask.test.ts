import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Json } from '../kernel/json.js';
import { createBudget } from './budget.js';
import { createExpressions } from './expressions.js';

const { evaluateMask } = createExpressions();

function masked(mask: Json, data: Json = { number: '4111111111111111', month: 3, secret: 'sesame' }): Json | undefined {
  return evaluateMask(mask, { data }, createBudget());
}

describe('a mask', () => {
  it('keeps its shape, its plain values, and the types of its expressions', () => {
    const mask = {
      number: '{{ data.number | reveal_last: 4 }}',
      month: '{{ data.month }}',
      a: ['x', 1, null, true, '{{ data.month }}!'],
    };
    assert.deepEqual(masked(mask), { number: 'XXXXXXXXXXXX1111', month: 3, a: ['x', 1, null, true, '3!'] });
    assert.equal(masked('{{ data.month }}'), 3);
    assert.equal(masked(7), 7);
    assert.equal(masked(null), null);
  });

  it('leaves out what fails, member or element, and never shows the plaintext or the template', () => {
    const failing = [
      '{{ data.secret',
      '{{ data.secret | nope }}',
      '{{ data.secret | to_number }}',
      '{% include "x" %}',
    ];
    for (const leaf of failing) {
      assert.deepEqual(masked({ a: leaf, b: 1, c: [leaf, 2], d: { e: leaf } }), { b: 1, c: [2], d: {} }, leaf);
      assert.equal(masked(leaf), undefined);
    }
  });

  it('leaves out a member without a value, and keeps one that is null', () => {
    assert.deepEqual(masked({ a: '{{ data.absent }}', b: '{{ data.none }}' }, { none: null }), { b: null });
  });

  it('leaves out everything evaluated after the budget is spent, and keeps what needs no evaluation', () => {
    const bomb = '{% for i in (1..1000) %}{% for j in (1..1000) %}x{% endfor %}{% endfor %}';
    const mask = { first: '{{ data.month }}', bomb, later: '{{ data.month }}', plain: 'text' };
    assert.deepEqual(masked(mask), { first: 3, plain: 'text' });
  });

  it('is left out once its results reach the bound of the request', () => {
    const data = { text: 'x'.repeat(600_000) };
    assert.deepEqual(Object.keys(masked({ a: '{{ data.text }}', b: '{{ data.text }}' }, data) ?? {}), ['a']);
  });

  it('of a hundred thousand failing leaves ends by its budget', () => {
    const budget = createBudget();
    const mask = Array.from({ length: 100_000 }, () => '{{data|to_number}}');
    assert.deepEqual(evaluateMask(mask, { data: 'x' }, budget), []);
    assert.ok(budget.isExhausted());
  });

  it('may have a member named __proto__, which stays a member', () => {
    const mask: Json = JSON.parse('{"__proto__":"{{ data.month }}","b":1}');
    const shown = masked(mask);
    assert.equal(JSON.stringify(shown), '{"__proto__":3,"b":1}');
    assert.equal(Object.getPrototypeOf(shown), Object.prototype);
  });
});
