import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { checkEntities } from './checks/entities.js';
import { checkEntries, readEntries } from './checks/entries.js';
import { checkInvariants, checkTerms } from './checks/invariants.js';
import { checkWhole } from './checks/whole.js';
import type { Cluster } from './cluster.js';
import type { Entity, Journal } from './journal.js';
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
  await asSuperuser(checked.cluster.postgres, async (client) => {
    if (!(await isQuiet(client))) checked.violate('transactions are still open long after the load has stopped');
    const entries = await readEntries(client, checked.roundId);
    checkEntries(checked.cluster, checked.journal.operations, entries, checked.violate);
    await checkEntities({ ...checked, entries });
    await checkInvariants(client, checked.violate);
    await checkTerms(client, checked.roundId, checked.violate);
  });
}

/** What is too much for every round. */
export async function checkEnd(cluster: Cluster, violate: (text: string) => void): Promise<void> {
  await asSuperuser(cluster.postgres, async (client) => {
    await checkWhole(cluster, client, violate);
    await checkInvariants(client, violate);
  });
}

const QUIET_POLLS = 3;
const POLL_MS = 100;
const QUIET_MAX_MS = 120_000;

/** A request whose client has given up may still be at work. Nothing is judged before all of them are over. */
async function isQuiet(client: pg.Client): Promise<boolean> {
  const deadlineMs = performance.now() + QUIET_MAX_MS;
  for (let quiet = 0; quiet < QUIET_POLLS; ) {
    const { rows } = await client.query(
      `SELECT pid FROM pg_stat_activity WHERE usename = 'strongroom' AND xact_start IS NOT NULL`,
    );
    quiet = rows.length === 0 ? quiet + 1 : 0;
    if (performance.now() > deadlineMs) return false;
    await wait(POLL_MS);
  }
  return true;
}
