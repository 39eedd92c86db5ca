import { join } from 'node:path';
import { boundText, goalOf } from '../goals.js';
import type { Findings } from '../page/results.js';
import { NOTHING } from '../page/results.js';
import type { Bench } from '../plan.js';
import { startProduct } from '../product.js';
import { spread } from '../statistics.js';
import { apiPids, residentMb } from '../watch/cost.js';

const EMPTY = { most: 5 };
const USED = { most: 2 };

/** From the start of the process to the line that says it is ready: on an empty folder, and on the same folder later. */
export async function measureStart({ plan, workshop }: Bench): Promise<Findings> {
  const seconds: [number[], number[]] = [[], []];
  const rssMb: [number[], number[]] = [[], []];
  for (let round = 0; round < plan.rounds; round += 1) {
    const dataDir = join(await workshop.folder(), 'data');
    for (const turn of [0, 1] as const) {
      const product = await startProduct(workshop, { dataDir });
      seconds[turn].push(product.readySeconds);
      rssMb[turn].push(await residentMb(await apiPids(product.pid)));
      await product.stop();
    }
  }
  const row = (name: string, turn: 0 | 1, goal: typeof EMPTY): string[] => [
    name,
    spread(seconds[turn], 2),
    spread(rssMb[turn], 0),
    boundText(goal),
  ];
  return {
    ...NOTHING,
    tables: [
      {
        title: 'From process start to ready',
        head: ['folder', 'seconds', 'RSS MB', 'goal s'],
        rows: [row('empty', 0, EMPTY), row('used before', 1, USED)],
      },
    ],
    goals: [
      goalOf('start on an empty folder, seconds', seconds[0], EMPTY),
      goalOf('start on a used folder, seconds', seconds[1], USED),
    ],
  };
}
