import type { Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';
import { spreadOf } from '../worker-gone.js';
import { failover } from './failover.js';

/**
 * As `failover`. What an operator does besides promoting: one call of citus_set_coordinator_host on the new
 * coordinator, which tells the workers where it is. What was prepared when the old one died is decided by the new one,
 * which has its list of transactions.
 */
export const citusFailover: Scenario = {
  ...failover,
  name: 'citus-failover',
  about: 'kill -9 of the coordinator of Citus; its synchronous standby is promoted, no node starts again',
  needs: ['citus'],
  cluster: { hasStandby: true, isSpread: true },
  async verify(round) {
    await failover.verify?.(round);
    const { postgres } = round.cluster;
    for (const [number, worker] of spreadOf(round.cluster).workers.entries()) {
      const { rows } = await asSuperuser(worker, (client) =>
        client.query<{ port: number }>('SELECT nodeport AS port FROM pg_dist_node WHERE groupid = 0'),
      );
      if (rows[0]?.port !== postgres.port) round.violate(`worker ${number} knows another coordinator`);
    }
  },
};
