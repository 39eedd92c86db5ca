import { killTree } from '../processes.js';
import type { Scenario } from '../scenario.js';

/** The whole server dies in the middle of whatever it is writing, and comes back from its log. */
export const postgresKill: Scenario = {
  name: 'postgres-kill',
  about: 'kill -9 of the postmaster and all its children, started again',
  needs: [],
  shortCount: 1,
  longCount: 30,
  async inject(round) {
    const { postgres } = round.cluster;
    await killTree(postgres.pid());
    await postgres.end('SIGKILL');
    await round.pause(0, 1_000);
    return () => postgres.start();
  },
};
