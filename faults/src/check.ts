import { setTimeout as wait } from 'node:timers/promises';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type pg from 'pg';
import { copyTables } from './checks/copies.js';
import { checkEntities } from './checks/entities.js';
import { checkEntries, readEntries } from './checks/entries.js';
import { checkInvariants, checkTerms } from './checks/invariants.js';
import { checkWhole } from './checks/whole.js';
import type { Cluster } from './cluster.js';
import type { Entity, Journal } from './journal.js';
import { untilDecided } from './spread.js';
import { asSuperuser } from './superuser.js';

export interface Checked {
  readonly cluster: Cluster;
  readonly roundId: string;
  readonly journal: Journal;
  readonly entities: Iterable<Entity>;
  readonly violate: (text: string) => void;
}

/** Holds what the system has now against what the client was told. */
export async function checkRound(checked: Checked): Promise<void> {
  const { postgres, spread } = checked.cluster;
  if (!(await areQuiet([postgres, ...(spread?.workers ?? [])])))
    checked.violate('transactions are still open long after the load has stopped');
  const undecided = spread ? await untilDecided(postgres, spread) : [];
  if (undecided.length > 0) checked.violate(`transactions are still prepared: ${undecided.join(', ')}`);
  await asSuperuser(postgres, async (client) => {
    const entries = await readEntries(client, checked.roundId);
    checkEntries(checked.cluster, checked.journal.operations, entries, checked.violate);
    await checkEntities({ ...checked, entries });
    if (spread) await copyTables(client);
    await checkInvariants(client, spread !== undefined, checked.violate);
    await checkTerms(client, checked.roundId, checked.violate);
  });
}

/** What is too much for every round. */
export async function checkEnd(cluster: Cluster, violate: (text: string) => void): Promise<void> {
  await asSuperuser(cluster.postgres, async (client) => {
    await checkWhole(cluster, client, violate);
    if (cluster.spread) await copyTables(client);
    await checkInvariants(client, cluster.spread !== undefined, violate);
  });
}

/** On a worker of a database that is spread the roles sign in themselves. */
const FIND_OPEN = `
  SELECT pid FROM pg_stat_activity
  WHERE usename IN ('strongroom', 'strongroom_app', 'strongroom_system', 'strongroom_purge', 'strongroom_people')
    AND xact_start IS NOT NULL`;
const QUIET_POLLS = 3;
const POLL_MS = 100;
const QUIET_MAX_MS = 120_000;

/** A request whose client has given up may still be at work. Nothing is judged before all of them are over. */
async function areQuiet(servers: readonly PostgresServer[]): Promise<boolean> {
  const deadlineMs = performance.now() + QUIET_MAX_MS;
  const clients: pg.Client[] = [];
  try {
    for (const server of servers) clients.push(await server.connect());
    for (let quiet = 0; quiet < QUIET_POLLS; ) {
      const open = await Promise.all(clients.map((client) => client.query(FIND_OPEN)));
      quiet = open.every(({ rows }) => rows.length === 0) ? quiet + 1 : 0;
      if (performance.now() > deadlineMs) return false;
      await wait(POLL_MS);
    }
    return true;
  } finally {
    for (const client of clients) await client.end();
  }
}
