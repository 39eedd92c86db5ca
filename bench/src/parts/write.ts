import { alternate } from '../alternate.js';
import type { Comparison } from '../comparison.js';
import { comparisonGoals, comparisonTable, loadNotes } from '../comparison.js';
import type { LoadResult } from '../load/closed.js';
import { runLoad } from '../load/run.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import { startProduct } from '../product.js';
import { call, wire } from '../requests.js';
import { runScript } from '../scripts.js';

const CONNECTIONS = 64;

/** An update with its audit row over HTTP, against the same two statements by the bare driver. */
export async function measureWrite({ plan, workshop }: Bench): Promise<Findings> {
  const product = await startProduct(workshop);
  const { seconds } = plan;
  const self: { id: string } = JSON.parse(await call(product.port, product.key, 'GET', '/tenants/self'));
  const requests = [wire('PUT', '/tenants/self', product.key, JSON.stringify({ name: 'Benchmark' }))];
  const driver = { socketDir: product.socketDir, tenantIds: [self.id], callers: CONNECTIONS, seconds };
  const [below = [], ours = []] = await alternate(plan.rounds, [
    {
      run: async (): Promise<LoadResult> => JSON.parse(await runScript(workshop, 'baselines/bare-driver', driver)),
      watched: { api: undefined, database: product.database },
      isOwnLoad: true,
    },
    {
      run: () => runLoad(workshop, { port: product.port, requests, connections: CONNECTIONS, seconds }),
      watched: product.watched,
    },
  ]);
  await product.stop();
  const comparisons: Comparison[] = [{ path: 'PUT /tenants/self', baseline: 'bare driver', ours, below }];
  const title = `An update with its audit row against the same two statements by the bare driver, ${CONNECTIONS} callers, one tenant`;
  return {
    ...NOTHING,
    tables: [comparisonTable(title, comparisons)],
    goals: comparisonGoals(comparisons),
    notes: loadNotes(comparisons),
  };
}
