import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sumBy } from './sum-by.js';

interface Counted {
  readonly name: string;
  readonly count: number;
}

const keyOf = ({ name }: Counted): string => name;
const countOf = ({ count }: Counted): number => count;
const isSame = (a: Counted, b: Counted): boolean => a.name === b.name;

describe('sums of rows by their key', () => {
  it('are one for each key, in the order of the keys, with the first row of each', () => {
    const rows = [
      { name: 'b', count: 1 },
      { name: 'a', count: 2 },
      { name: 'b', count: 3 },
    ];
    assert.deepEqual(sumBy(rows, keyOf, countOf), [
      { row: rows[1], sum: 2 },
      { row: rows[0], sum: 4 },
    ]);
    assert.deepEqual(sumBy([], keyOf, countOf), []);
  });

  it('are the same whether rows are compared or their keys, however many kinds there are', () => {
    for (const kinds of [1, 2, 8, 9, 40]) {
      const rows = Array.from({ length: 200 }, (_, n) => ({ name: `n${(n * 7) % kinds}`, count: n }));
      const sums = sumBy(rows, keyOf, countOf, isSame);
      assert.equal(sums.length, kinds);
      assert.deepEqual(sums, sumBy(rows, keyOf, countOf));
    }
  });

  it('make a key only for the first row of a kind, where rows are compared', () => {
    let keys = 0;
    const counting = (row: Counted): string => {
      keys += 1;
      return row.name;
    };
    const rows = Array.from({ length: 100 }, (_, n) => ({ name: n % 2 === 0 ? 'used' : 'called', count: 1 }));
    assert.deepEqual(
      sumBy(rows, counting, countOf, isSame).map(({ sum }) => sum),
      [50, 50],
    );
    assert.equal(keys, 4, 'each of the two kinds is looked for once and kept once');
  });
});
