import type { Scenario, Undo } from '../scenario.js';
import { runAsSuperuser } from '../superuser.js';

const LOCKED = ['tokens', 'logs', 'token_groups', 'api_keys'] as const;

/** A stranger holds a lock on a table the service needs, for longer or shorter than the service waits. */
export const lockHeld: Scenario = {
  name: 'lock-held',
  about: 'another session holds an exclusive lock on a table, so that every connection waits',
  needs: [],
  shortCount: 1,
  longCount: 20,
  async inject(round) {
    const table = round.random.pick(LOCKED);
    const client = await round.cluster.postgres.connect();
    await client.query('BEGIN');
    await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    await round.pause(500, round.isLong ? 12_000 : 4_000);
    return () => client.end();
  },
};

/** Nobody gets a connection any more, and those there were are gone. */
export const connectionsUsedUp: Scenario = {
  name: 'connections-used-up',
  about: 'the login of the service may open no connection, and those it had are ended',
  needs: [],
  shortCount: 1,
  longCount: 20,
  async inject(round): Promise<Undo> {
    await runAsSuperuser(round.cluster.postgres, 'ALTER ROLE strongroom CONNECTION LIMIT 0');
    await runAsSuperuser(
      round.cluster.postgres,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'strongroom'`,
    );
    await round.pause(300, round.isLong ? 8_000 : 1_500);
    return () => runAsSuperuser(round.cluster.postgres, 'ALTER ROLE strongroom CONNECTION LIMIT -1');
  },
};
