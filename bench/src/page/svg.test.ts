import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Plot } from './plot.js';
import { linearScale, logScale, nameScale, shortNumber } from './scale.js';
import { drawPlot } from './svg.js';

describe('scales', () => {
  it('a log scale puts equal factors at equal distances, from end to end', () => {
    const scale = logScale([1_000, 10_000_000]);
    assert.equal(scale.place(1_000), 0);
    assert.equal(scale.place(10_000_000), 1);
    assert.ok(Math.abs(scale.place(10_000) - 0.25) < 1e-9);
    assert.deepEqual(
      scale.ticks.map(({ label }) => label),
      ['1k', '10k', '100k', '1M', '10M'],
    );
  });

  it('a log scale within one decade still has labels, and one value has an axis', () => {
    assert.deepEqual(
      logScale([1.3, 4]).ticks.map(({ label }) => label),
      ['1', '2', '5'],
    );
    const { ticks, place } = logScale([3]);
    assert.ok(ticks.length > 0);
    assert.ok(place(3) >= 0 && place(3) <= 1);
  });

  it('a linear scale starts at nothing and ends at a round number above the most', () => {
    const scale = linearScale([3, 13_700]);
    assert.equal(scale.place(0), 0);
    assert.ok(scale.place(13_700) <= 1);
    assert.equal(scale.ticks.at(-1)?.label, '15k');
    assert.equal(linearScale([0]).place(0), 0);
  });

  it('names stand in the middle of their share', () => {
    assert.equal(nameScale(['1', '2']).place(1), 0.75);
  });

  it('numbers are short', () => {
    assert.deepEqual([0.5, 2_500, 10_000_000].map(shortNumber), ['0.5', '2.5k', '10M']);
  });
});

describe('a plot', () => {
  const plot: Plot = {
    name: 'p',
    title: 'Few & many',
    x: { label: 'rows', scale: 'log' },
    y: { label: 'ms', scale: 'log' },
    series: [
      { name: 'a < b', points: [1, 2, 3].map((n) => ({ x: 10 ** (n + 2), y: n, low: n / 2, high: n * 2 })) },
      { name: 'line', isLine: true, points: [{ x: 1_000, y: 5, low: 5, high: 5 }] },
    ],
  };

  it('has a point with a spread bar for each figure, a legend, and text that follows light and dark', () => {
    const svg = drawPlot(plot);
    assert.equal(svg.match(/<circle/g)?.length, 3);
    assert.equal(svg.match(/<path/g)?.length, 3);
    assert.equal(svg.match(/<polyline/g)?.length, 2);
    assert.match(svg, /prefers-color-scheme: dark/);
    assert.match(svg, />a &lt; b</);
    assert.match(svg, />Few &amp; many</);
    assert.doesNotMatch(svg, /NaN|Infinity|undefined/);
  });

  it('keeps everything inside its frame', () => {
    const svg = drawPlot(plot);
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
    for (const [, x, y] of svg.matchAll(/cx="([\d.-]+)" cy="([\d.-]+)"/g)) {
      assert.ok(Number(x) >= 0 && Number(x) <= Number(width));
      assert.ok(Number(y) >= 0 && Number(y) <= Number(height));
    }
  });
});
