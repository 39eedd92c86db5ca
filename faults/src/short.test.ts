// needs: processes
// attack: kills and cuts off the parts of a cluster under load

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { unless } from '@strongroom/test-servers/find.js';
import { checkEnd } from './check.js';
import type { Cluster } from './cluster.js';
import { startCluster } from './cluster.js';
import { isImpossible, missingParts } from './missing-parts.js';
import { runScenario } from './run-scenario.js';
import { SABOTAGES, sabotage } from './sabotage.js';
import { SCENARIOS } from './scenarios.js';

/** Another one every day, the same in every run of a day: a failure today can be looked at today. */
const SEED = Math.floor(Date.now() / 86_400_000);

describe('what was acknowledged is there, and nothing is half', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  for (const scenario of SCENARIOS.filter(({ shortCount }) => shortCount > 0)) {
    const [missing] = missingParts(scenario.needs);
    const skip = isImpossible(scenario.needs)
      ? `no ${missing} on this machine`
      : unless(missing === undefined ? scenario : undefined, missing ?? '');
    it(`${scenario.name}: ${scenario.about}`, { skip }, async () => {
      const result = await runScenario(scenario, { seed: SEED, count: 1, isLong: false, cluster });
      const seen = [...result.rounds.flatMap(({ violations }) => violations), ...result.violations];
      assert.deepEqual(seen, [], `npm run test:faults -- --only ${scenario.name} --seed ${SEED} --count 1`);
      assert.ok(result.rounds.every(({ acknowledged }) => acknowledged > 0));
    });
  }

  it('every row opens, and lists show every row once and to its own tenant alone', async () => {
    const seen: string[] = [];
    await checkEnd(cluster, (text) => void seen.push(text));
    assert.deepEqual(seen, []);
  });

  it('rows altered by hand are found out, each for what it is', async () => {
    const { rounds } = await runScenario(sabotage, { seed: SEED, count: 1, isLong: false, cluster });
    const seen = rounds.flatMap(({ violations }) => violations);
    for (const { name, expected } of SABOTAGES) {
      assert.ok(
        seen.some((text) => expected.test(text)),
        `${name}: ${seen.join('; ')}`,
      );
    }
  });
});
