import { alternate } from '../alternate.js';
import type { Comparison } from '../comparison.js';
import { comparisonTable, loadNotes } from '../comparison.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import { commonPaths, ratePlot, sideOf } from '../paths.js';
import type { Bench } from '../plan.js';
import { startProduct } from '../product.js';

const PATHS = ['GET /tenants/self', 'create a card', 'read a card'] as const;

/** One API process and two, on one embedded server each. */
export async function measureWorkers(bench: Bench): Promise<Findings> {
  const one = await startProduct(bench.workshop, { workers: 1 });
  const two = await startProduct(bench.workshop, { workers: 2 });
  const [first, second] = [await commonPaths(one, PATHS), await commonPaths(two, PATHS)];
  const comparisons: Comparison[] = [];
  for (const path of PATHS) {
    bench.say(path);
    const [below = [], ours = []] = await alternate(bench.plan.rounds, [
      sideOf(bench, one, first[path] ?? []),
      sideOf(bench, two, second[path] ?? []),
    ]);
    comparisons.push({ path: `${path}, two workers`, baseline: 'one worker', ours, below });
  }
  await two.stop();
  await one.stop();
  const plot = { name: 'workers', title: 'One API process and two', xLabel: 'API processes', names: ['1', '2'] };
  const series = comparisons.map(({ path, ours, below = [] }) => ({
    name: path.replace(/,.*/, ''),
    byPlace: [below, ours],
  }));
  return {
    ...NOTHING,
    tables: [comparisonTable('Two workers against one, 64 connections', comparisons)],
    plots: [ratePlot(plot, series)],
    notes: loadNotes(comparisons),
  };
}
