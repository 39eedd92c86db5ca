import type { Hook } from '@strongroom/test-servers/tcp-proxy.js';
import type { Scenario } from '../scenario.js';
import { killServer, spreadOf } from '../worker-gone.js';

/**
 * What the coordinator says to a worker to end a change: alone, or in the two phases of one that the coordinator has a
 * part of.
 */
const ENDINGS = ['COMMIT\0', 'PREPARE TRANSACTION ', 'COMMIT PREPARED '] as const;
const VICTIMS = ['both', 'both', 'worker', 'coordinator'] as const;
/** Changes of all three kinds come several times a second. */
const SEEN_MAX_MS = 20_000;

export const citusCommitKill: Scenario = {
  name: 'citus-commit-kill',
  about: 'kill -9 of a worker of Citus and the coordinator, or one of them, while a COMMIT is between them',
  needs: ['citus'],
  shortCount: 3,
  longCount: 60,
  cluster: { isSpread: true },
  async inject(round) {
    const { cluster, random } = round;
    const { postgres } = cluster;
    const { workers, ways } = spreadOf(cluster);
    const ending = random.pick(ENDINGS);
    const isDelivered = random.chance(0.5);
    const victims = random.pick(VICTIMS);
    const number = await new Promise<number>((resolve, reject) => {
      const timer = setTimeout(() => {
        for (const each of ways) each.setHook(undefined);
        reject(new Error(`no ${ending} was seen`));
      }, SEEN_MAX_MS);
      for (const [n, way] of ways.entries()) {
        const hook: Hook = (_link, direction, chunk) => {
          if (direction !== 'up' || !chunk.includes(ending)) return 'pass';
          clearTimeout(timer);
          for (const each of ways) each.setHook(undefined);
          resolve(n);
          // The worker has it and its answer is lost, or the worker never hears of it.
          return { deliver: isDelivered ? chunk.length : 0, after: 'silence' };
        };
        way.setHook(hook);
      }
    });
    const worker = workers[number];
    if (!worker) throw new Error(`there is no worker ${number}`);
    await round.pause(0, 30);
    const killed = [...(victims === 'worker' ? [] : [postgres]), ...(victims === 'coordinator' ? [] : [worker])];
    await Promise.all(killed.map(killServer));
    await round.pause(0, 1_000);
    return async () => {
      // A connection that fell silent would stay so for a coordinator that lives.
      ways[number]?.resetAll();
      await Promise.all(killed.map((server) => server.start()));
    };
  },
};
