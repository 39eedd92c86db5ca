import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareTables } from './compare.js';
import type { Table } from './results.js';
import { NOTHING } from './results.js';

const HEAD = ['path', 'baseline', 'product/s', 'ratio', 'goal'];

function findings(...rows: string[][]) {
  const table: Table = { title: 'Reads', head: HEAD, rows };
  return { ...NOTHING, tables: [table] };
}

describe('comparing with an earlier run', () => {
  it('shows both figures and the change, row by row, without the spread', () => {
    const earlier = findings(
      ['read', 'bare', '200', '0.50 (0.40 to 0.60)', '>= 0.50'],
      ['list', 'bare', '10', '1', ''],
    );
    const now = findings(['list', 'bare', '10', '2', ''], ['read', 'bare', '150', '0.60 (0.50 to 0.70)', '>= 0.50']);
    assert.deepEqual(compareTables(earlier, now), [
      {
        title: 'Reads: earlier -> now',
        head: HEAD,
        rows: [
          ['list', 'bare', '10 -> 10 (0 %)', '1 -> 2 (+100 %)', ''],
          ['read', 'bare', '200 -> 150 (-25 %)', '0.50 -> 0.60 (+20 %)', '>= 0.50'],
        ],
      },
    ]);
  });

  it('tells rows apart by all their words, and leaves out what only one run has', () => {
    const earlier = findings(['read', 'bare', '200', '1', ''], ['gone', 'bare', '1', '1', '']);
    const now = findings(['read', 'embedded', '150', '1', ''], ['new', 'bare', '1', '1', '']);
    assert.deepEqual(compareTables(earlier, now), []);
    assert.deepEqual(compareTables(NOTHING, now), []);
  });

  it('a figure that was zero has no percentage', () => {
    const [table] = compareTables(findings(['read', 'bare', '0', '1', '']), findings(['read', 'bare', '5', '1', '']));
    assert.equal(table?.rows[0]?.[2], '0 -> 5');
  });
});
