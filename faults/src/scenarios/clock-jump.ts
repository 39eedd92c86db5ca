import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { read, readAll } from '../checks/api.js';
import type { Cluster } from '../cluster.js';
import { clockFileOf } from '../cluster.js';
import type { ApiNode } from '../node.js';
import { field, textAt } from '../plan.js';
import type { Round, Scenario } from '../scenario.js';

const JUMP_MS = 2 * 3_600_000;
/** A signal is on its way for a moment. */
const SETTLE_MS = 50;

/** The wall clock of one node or of all jumps two hours, forward or back, and later returns. */
export const clockJump: Scenario = {
  name: 'clock-jump',
  about: 'the wall clock of one or both nodes jumps two hours forward or back, and returns',
  needs: [],
  shortCount: 1,
  longCount: 20,
  async inject(round) {
    const { cluster, random } = round;
    const nodes = random.chance(0.5) ? cluster.nodes : [random.pick(cluster.nodes)];
    const walk = await beginWalk(round);
    await setClocks(cluster, nodes, random.chance(0.5) ? JUMP_MS : -JUMP_MS);
    await round.pause(500, 1_500);
    await walk();
    return () => setClocks(cluster, nodes, 0);
  },
};

async function setClocks(cluster: Cluster, nodes: readonly ApiNode[], shiftMs: number): Promise<void> {
  for (const node of nodes) {
    await writeFile(clockFileOf(cluster.folder, node.index), String(shiftMs));
    node.signal('SIGUSR2');
  }
  await wait(SETTLE_MS);
}

/** Begins to walk through a log by cursor; what it returns goes on to the end: nothing twice, and nothing left out. */
async function beginWalk(round: Round): Promise<() => Promise<void>> {
  const { cluster } = round;
  const tenant = round.random.pick(cluster.tenants);
  const path = '/logs?size=200&include=details';
  const before = await readAll(cluster, tenant.managementKey, path);
  const page = await read(cluster, tenant.managementKey, '/logs?size=20&include=details');
  const after = textAt(page, 'pagination', 'after');
  const first = field(page, 'data');
  return async () => {
    const rest = after === '' ? [] : await readAll(cluster, tenant.managementKey, path, 0, after);
    const seen = [...(Array.isArray(first) ? first : []), ...rest].map((item) => textAt(item, 'id'));
    const ids = new Set(seen);
    if (ids.size !== seen.length) round.violate('a walk by cursor over a jump of the clock shows entries twice');
    const missing = before.filter((item) => !ids.has(textAt(item, 'id'))).length;
    if (missing > 0) round.violate(`a walk by cursor over a jump of the clock leaves out ${missing} entries`);
  };
}
