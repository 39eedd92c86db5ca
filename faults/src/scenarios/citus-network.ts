import type { Scenario } from '../scenario.js';
import { checkCold, checkOthersWentOn, chooseWorker, spreadOf } from '../worker-gone.js';

/** A way that refuses is noticed at once. */
const REFUSED_MAX_MS = 6_000;
/**
 * One that says nothing is found out by a question of the node's own that has no answer; until then whoever asks for the silent
 * worker holds connections that others wait for.
 */
const FOUND_OUT_MS = 5_000;

export const citusNetworkCut: Scenario = {
  name: 'citus-network-cut',
  about: 'nobody listens where the coordinator of Citus knows a worker, and what was connected is reset',
  needs: ['citus'],
  shortCount: 1,
  longCount: 10,
  cluster: { isSpread: true },
  async inject(round) {
    const { cluster } = round;
    const gone = await chooseWorker(round);
    const way = spreadOf(cluster).ways[gone.number];
    const cold = await cluster.startExtra({
      STRONGROOM_DATABASE_URL: cluster.settings.STRONGROOM_DATABASE_URL ?? '',
    });
    await way?.refuse();
    const fromMs = performance.now();
    await checkCold(round, cold, gone, REFUSED_MAX_MS);
    await round.pause(500, round.isLong ? 10_000 : 1_500);
    checkOthersWentOn(round, gone, fromMs, performance.now());
    return async () => {
      await way?.accept();
      await cold.end('SIGTERM');
    };
  },
};

export const citusNetworkHole: Scenario = {
  name: 'citus-network-hole',
  about: 'what the coordinator of Citus and a worker say to each other is held and nothing is closed; later it arrives',
  needs: ['citus'],
  shortCount: 1,
  longCount: 6,
  cluster: { isSpread: true },
  // Enough to hold every connection of a node, if those of the silent worker were let.
  load: { workersPerTenant: 12, pauseMs: [50, 150] },
  async inject(round) {
    const { cluster } = round;
    const gone = await chooseWorker(round);
    const way = spreadOf(cluster).ways[gone.number];
    const cold = await cluster.startExtra({
      STRONGROOM_DATABASE_URL: cluster.settings.STRONGROOM_DATABASE_URL ?? '',
    });
    way?.setWeather({ kind: 'hole' });
    await round.pause(FOUND_OUT_MS, FOUND_OUT_MS + 500);
    const fromMs = performance.now();
    await checkCold(round, cold, gone, REFUSED_MAX_MS);
    await round.pause(3_000, round.isLong ? 20_000 : 4_000);
    checkOthersWentOn(round, gone, fromMs, performance.now());
    return async () => {
      way?.setWeather({ kind: 'pass' });
      await cold.end('SIGTERM');
    };
  },
};
