import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type { Hook } from '@strongroom/test-servers/tcp-proxy.js';
import { ask } from '../beside-load.js';
import type { Ending } from '../call.js';
import type { Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';
import { checkOthersWentOn, chooseWorker, killServer, spreadOf } from '../worker-gone.js';

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

/** A change that hangs makes its worker suspect, a probe that hangs too proves it, and what waits for it is given up. */
const FOUND_OUT_MS = 7_000;
/** Then it is refused at once. The rest is for a machine that is busy with other things. */
const TOLD_MAX_MS = 2_000;

export const citusCommitHang: Scenario = {
  name: 'citus-commit-hang',
  about:
    'a worker of Citus answers and cannot commit, for it waits for a standby that is gone; tenants of the other one go on',
  needs: ['citus'],
  shortCount: 1,
  longCount: 6,
  cluster: { isSpread: true },
  // Enough to hold every lane of a node, if those of the worker that hangs were let.
  load: { workersPerTenant: 12, pauseMs: [50, 150] },
  async inject(round) {
    const { nodes } = round.cluster;
    const gone = await chooseWorker(round);
    await waitForStandby(gone.server, 'nobody');
    await round.pause(FOUND_OUT_MS, FOUND_OUT_MS + 500);
    const fromMs = performance.now();
    await round.pause(3_000, round.isLong ? 20_000 : 4_000);
    checkOthersWentOn(round, gone, fromMs, performance.now());
    for (const { tokenKey, managementKey, index } of gone.itsTenants) {
      for (const { port } of nodes) {
        const read = await ask(round, port, 'GET', '/tenants/self', managementKey);
        if (read.kind !== 'answered' || read.status !== 200) round.violate(`tenant ${index} cannot even be read`);
        const askedMs = performance.now();
        const change = await ask(round, port, 'POST', '/tokens', tokenKey, { type: 'token', data: 'x' });
        const tookMs = Math.round(performance.now() - askedMs);
        const isTold = change.kind === 'answered' && change.status === 503 && tookMs <= TOLD_MAX_MS;
        if (!isTold)
          round.violate(`a change of tenant ${index}, whose worker hangs: ${outcomeOf(change)} after ${tookMs} ms`);
      }
    }
    return () => waitForStandby(gone.server, '');
  },
};

async function waitForStandby(server: PostgresServer, name: string): Promise<void> {
  await asSuperuser(server, async (client) => {
    await client.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
    await client.query('SELECT pg_reload_conf()');
  });
}

function outcomeOf(ending: Ending): string {
  return ending.kind === 'answered' ? String(ending.status) : ending.reason;
}
