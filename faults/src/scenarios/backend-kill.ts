import { setTimeout as wait } from 'node:timers/promises';
import type { Cluster } from '../cluster.js';
import { signal } from '../processes.js';
import type { Random } from '../random.js';
import type { Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';

const POLL_MS = 50;

/** One backend ends: told to by an administrator, or killed, which makes the server restart all of them. */
export const backendKill: Scenario = {
  name: 'backend-kill',
  about: 'kill -9 or pg_terminate_backend of one backend of the service',
  needs: [],
  shortCount: 2,
  longCount: 100,
  async inject(round) {
    await hurtOne(round.cluster, round.random);
    return () => untilAnswering(round.cluster);
  },
};

async function hurtOne(cluster: Cluster, random: Random): Promise<void> {
  const isKilled = random.chance(0.5);
  const share = random.next();
  await asSuperuser(cluster.postgres, async (client) => {
    // The busy ones first: those are in the middle of something.
    const { rows } = await client.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE usename = 'strongroom' ORDER BY xact_start IS NULL, pid`,
    );
    const victim = rows[Math.floor(share * share * rows.length)]?.pid;
    if (victim === undefined) throw new Error('the service has no connection');
    if (isKilled) signal(victim, 'SIGKILL');
    else await client.query('SELECT pg_terminate_backend($1)', [victim]);
  });
}

async function untilAnswering(cluster: Cluster): Promise<void> {
  for (;;) {
    try {
      const client = await cluster.postgres.connect();
      await client.end();
      return;
    } catch {
      await wait(POLL_MS);
    }
  }
}
