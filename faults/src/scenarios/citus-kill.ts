import type { Scenario } from '../scenario.js';
import { checkCold, checkOthersWentOn, chooseWorker, killServer } from '../worker-gone.js';

/** A server that is dead refuses at once. */
const REFUSED_MAX_MS = 6_000;

export const citusWorkerKill: Scenario = {
  name: 'citus-worker-kill',
  about: 'kill -9 of a worker of Citus; tenants of the other one go on, also on a node that has never seen their keys',
  needs: ['citus'],
  shortCount: 1,
  longCount: 10,
  cluster: { isSpread: true },
  async inject(round) {
    const { cluster } = round;
    const gone = await chooseWorker(round);
    const cold = await cluster.startExtra({
      STRONGROOM_DATABASE_URL: cluster.settings.STRONGROOM_DATABASE_URL ?? '',
    });
    await killServer(gone.server);
    const fromMs = performance.now();
    await checkCold(round, cold, gone, REFUSED_MAX_MS);
    await round.pause(500, round.isLong ? 5_000 : 1_500);
    checkOthersWentOn(round, gone, fromMs, performance.now());
    return async () => {
      await gone.server.start();
      await cold.end('SIGTERM');
    };
  },
};

export const citusCoordinatorKill: Scenario = {
  name: 'citus-coordinator-kill',
  about: 'kill -9 of the coordinator of Citus, started again; its workers run on',
  needs: ['citus'],
  shortCount: 1,
  longCount: 10,
  cluster: { isSpread: true },
  async inject(round) {
    const { postgres } = round.cluster;
    await killServer(postgres);
    await round.pause(0, 1_000);
    return () => postgres.start();
  },
};

/** Nodes that start have much to read, and none of it is on a worker. */
const READY_MAX_MS = 20_000;

export const citusStartWithoutWorker: Scenario = {
  name: 'citus-start-without-worker',
  about: 'all nodes, and sometimes the coordinator, start while a worker of Citus is down',
  needs: ['citus'],
  shortCount: 1,
  longCount: 10,
  cluster: { isSpread: true },
  async inject(round) {
    const { cluster } = round;
    const { nodes, postgres } = cluster;
    const gone = await chooseWorker(round);
    const hasCoordinator = round.random.chance(0.5);
    await killServer(gone.server);
    await Promise.all(nodes.map((node) => node.end('SIGTERM')));
    if (hasCoordinator) {
      await postgres.end('SIGINT');
      await postgres.start();
    }
    const fromMs = performance.now();
    await Promise.all(nodes.map((node) => node.start()));
    const readyMs = performance.now();
    if (readyMs - fromMs > READY_MAX_MS) round.violate(`nodes were ready after ${Math.round(readyMs - fromMs)} ms`);
    for (const node of nodes) await checkCold(round, node, gone, REFUSED_MAX_MS);
    // One that has the address of the owner looks at the schema as well.
    const withOwner = await cluster.startExtra(cluster.settings);
    await checkCold(round, withOwner, gone, REFUSED_MAX_MS);
    checkOthersWentOn(round, gone, readyMs, performance.now());
    return async () => {
      await gone.server.start();
      await withOwner.end('SIGTERM');
    };
  },
};
