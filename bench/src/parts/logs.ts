import { statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import type { GrowthCurve } from '../growth-table.js';
import { growthGoal, growthPlot, growthTable, power } from '../growth-table.js';
import type { Span } from '../log-fill.js';
import { fillLogs } from '../log-fill.js';
import type { LogFilterCase } from '../log-pages.js';
import { filterCases, firstPageOf, pagesOf, rareCases } from '../log-pages.js';
import type { Findings } from '../page/results.js';
import type { Bench } from '../plan.js';
import { startProduct } from '../product.js';
import { wire } from '../requests.js';
import { sampleGroups } from '../samples.js';
import { makeLogTenant } from '../tenants.js';

export interface GrownLog {
  readonly id: string;
  readonly key: string;
  readonly rows: number;
}

const SIZES = [10_000, 1_000_000, 10_000_000] as const;
const SIZES_QUICK = [10_000, 20_000, 50_000] as const;
/** Rows with their indexes, and the WAL of writing them. */
const BYTES_PER_ROW = 1_200;
const GIB = 1_024 ** 3;

/** A page of the log among few rows and among many, for every filter, at the start, deep in and near the end. */
export async function measureLogs(bench: Bench): Promise<Findings> {
  const sizes: readonly number[] = bench.plan.isQuick ? SIZES_QUICK : SIZES;
  await refuseFullDisk(sizes.reduce((sum, size) => sum + size, 0));
  const product = await startProduct(bench.workshop);
  const tenants: GrownLog[] = [];
  for (const rows of sizes) tenants.push({ ...(await makeLogTenant(product)), rows });
  const filled = await fillLogs(product.socketDir, tenants);
  bench.say(`rows and indexes in ${filled.seconds.toFixed(0)} s, ${(filled.bytes / GIB).toFixed(1)} GiB of tables`);

  const byDepth = new Map<string, GrowthCurve[]>();
  for (const filter of filterCases(filled.span)) {
    bench.say(filter.name);
    for (const [depth, curve] of await curvesOf(bench, product, tenants, filter, filled.span)) {
      byDepth.set(depth, [...(byDepth.get(depth) ?? []), curve]);
    }
  }
  const rare: GrowthCurve[] = [];
  for (const filter of rareCases()) {
    bench.say(filter.name);
    const groups = tenants.map(({ key }) => [wire('GET', firstPageOf(filter), key)]);
    rare.push({ name: filter.name, bySize: await sampleGroups(bench, product.port, groups) });
  }
  byDepth.set('what is rare', rare);
  await product.stop();
  const range = `${power(sizes.at(-1) ?? 0)} and ${power(sizes[0] ?? 0)} rows`;
  const depths = [...byDepth];
  return {
    tables: depths.map(([depth, curves]) => growthTable(`GET /logs, 10 rows, ${depth}`, sizes, curves)),
    goals: depths.map(([depth, curves]) => growthGoal(`GET /logs among ${range}, ${depth}`, curves)),
    plots: depths.map(([depth, curves]) =>
      growthPlot(`logs-${depth.replaceAll(' ', '-')}`, `GET /logs: ${depth}`, 'rows of the tenant', sizes, curves),
    ),
    notes: [
      `Filling took ${filled.seconds.toFixed(0)} s; tables and indexes then took ${(filled.bytes / GIB).toFixed(1)} GiB.`,
    ],
  };
}

/** One curve a depth: the same place of the list in each tenant. */
async function curvesOf(
  bench: Bench,
  product: Awaited<ReturnType<typeof startProduct>>,
  tenants: readonly GrownLog[],
  filter: LogFilterCase,
  span: Span,
): Promise<Map<string, GrowthCurve>> {
  const paths: ReadonlyMap<string, string>[] = [];
  for (const tenant of tenants) paths.push(await pagesOf(bench.workshop, product, tenant, filter, span));
  const curves = new Map<string, GrowthCurve>();
  for (const depth of paths[0]?.keys() ?? []) {
    const groups = tenants.map(({ key }, place) => [wire('GET', paths[place]?.get(depth) ?? '', key)]);
    curves.set(depth, { name: filter.name, bySize: await sampleGroups(bench, product.port, groups) });
  }
  return curves;
}

async function refuseFullDisk(rows: number): Promise<void> {
  const { bavail, bsize } = await statfs(tmpdir());
  const needed = rows * BYTES_PER_ROW;
  if (bavail * bsize < needed) {
    throw new Error(`${tmpdir()} needs ${(needed / GIB).toFixed(0)} GiB free for ${rows} rows; set TMPDIR elsewhere`);
  }
}
