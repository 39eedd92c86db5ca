import type { Scenario } from '../scenario.js';
import { placeOf } from '../spread.js';
import { asSuperuser } from '../superuser.js';
import { spreadOf } from '../worker-gone.js';
import { ANSWER_MAX_MS, checkAnswers } from './network.js';

const HOST = '127.0.0.1';
const MOVE = `SELECT citus_move_shard_placement($1, $2, $3, $2, $4, shard_transfer_mode := 'block_writes')`;

export const citusShardMove: Scenario = {
  name: 'citus-shard-move',
  about: 'the shard of a tenant moves from one worker of Citus to the other while everybody works',
  needs: ['citus'],
  shortCount: 1,
  longCount: 10,
  cluster: { isSpread: true },
  async inject(round) {
    const { cluster, random } = round;
    const { postgres, tenants } = cluster;
    const spread = spreadOf(cluster);
    const tenant = random.pick(tenants);
    const { shard, worker } = await placeOf(postgres, spread, tenant.id);
    const target = random.pick([...spread.ways.keys()].filter((n) => n !== worker));
    await asSuperuser(postgres, (client) =>
      client.query(MOVE, [shard, HOST, spread.ways[worker]?.port, spread.ways[target]?.port]),
    );
    if ((await placeOf(postgres, spread, tenant.id)).worker !== target) round.violate('the shard did not move');
    return async () => {};
  },
  // Whoever waits for a lock is told in time that it did not get it.
  verify: async (round) => checkAnswers(round, 0, ANSWER_MAX_MS),
};
