import { killTree } from '../processes.js';
import type { Scenario } from '../scenario.js';

/** Both nodes know both hosts and find the one that takes changes by themselves. */
export const failover: Scenario = {
  name: 'failover',
  about: 'kill -9 of the primary while two nodes write; its synchronous standby is promoted, no node starts again',
  needs: ['postgresql'],
  shortCount: 1,
  longCount: 5,
  cluster: { hasStandby: true },
  hasClusterPerRound: true,
  async inject(round) {
    const { cluster } = round;
    const pids = cluster.nodes.map((node) => node.pid());
    const { postgres } = cluster;
    await killTree(postgres.pid());
    await postgres.end('SIGKILL');
    await round.pause(0, 2_000);
    return async () => {
      await cluster.failOver();
      if (cluster.nodes.some((node, n) => !node.isRunning() || node.pid() !== pids[n]))
        round.violate('a node ended when its database moved');
    };
  },
  async verify(round) {
    const nodes = new Set<number>();
    for (const { attempts } of round.journal.operations.slice(-LAST)) {
      for (const { node, outcome } of attempts) if (outcome === 'acknowledged') nodes.add(node);
    }
    if (nodes.size < round.cluster.nodes.length) round.violate('not every node went on after the promotion');
  },
};

const LAST = 40;
