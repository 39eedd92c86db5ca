import { startPostgres } from '@strongroom/test-servers/postgres.js';
import { alternate } from '../alternate.js';
import type { Comparison } from '../comparison.js';
import { comparisonTable, loadNotes } from '../comparison.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import { commonPaths, ratePlot, sideOf } from '../paths.js';
import type { Bench } from '../plan.js';
import { startProduct } from '../product.js';
import { byUrl, SERVER_SETTINGS } from '../server-by-url.js';

const PATHS = ['create a card', 'read a card'] as const;

/** The embedded server through its socket, and a server from packages through TCP. */
export async function measureServer(bench: Bench): Promise<Findings> {
  const { workshop } = bench;
  const postgres = await startPostgres({ settings: SERVER_SETTINGS });
  workshop.defer(() => postgres.remove());
  const embedded = await startProduct(workshop);
  const remote = await startProduct(workshop, byUrl(postgres));
  const [first, second] = [await commonPaths(embedded, PATHS), await commonPaths(remote, PATHS)];
  const comparisons: Comparison[] = [];
  for (const path of PATHS) {
    bench.say(path);
    const [below = [], ours = []] = await alternate(bench.plan.rounds, [
      sideOf(bench, embedded, first[path] ?? []),
      sideOf(bench, remote, second[path] ?? []),
    ]);
    comparisons.push({ path: `${path}, server by URL`, baseline: 'embedded server', ours, below });
  }
  await remote.stop();
  await embedded.stop();
  const plot = { name: 'server', title: 'Embedded server and server by URL', xLabel: 'database' };
  const series = comparisons.map(({ path, ours, below = [] }) => ({
    name: path.replace(/,.*/, ''),
    byPlace: [below, ours],
  }));
  return {
    ...NOTHING,
    tables: [comparisonTable('A PostgreSQL server against the embedded one, 64 connections', comparisons)],
    plots: [ratePlot({ ...plot, names: ['embedded', 'by URL'] }, series)],
    notes: loadNotes(comparisons),
  };
}
