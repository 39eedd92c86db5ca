import { setTimeout as wait } from 'node:timers/promises';
import { killTree } from '../processes.js';
import type { Round, Scenario, Undo } from '../scenario.js';

const NEEDS = ['a file system of its own'] as const;
/** Little is kept for later, so that the next segment needs new room. */
const WAL = { max_wal_size: '4MB', min_wal_size: '2MB', wal_recycle: 'off' };
const MEGABYTES = 192;
const UP_MAX_MS = 2_000;
const POLL_MS = 100;

/**
 * The power goes: PostgreSQL loses everything it had not flushed, and comes back from what the device has. What a client
 * was told before is checked like after any other fault, so nothing acknowledged may be among what was lost.
 */
export const powerCut: Scenario = {
  name: 'power-cut',
  about: 'the file system of PostgreSQL loses what is not flushed and stops; mounted again, PostgreSQL starts on it',
  needs: NEEDS,
  shortCount: 1,
  longCount: 20,
  cluster: { disk: { holds: 'all', megabytes: 512 }, postgres: { wal_recycle: 'off' } },
  async inject(round) {
    const { postgres, disk } = round.cluster;
    await disk?.cut();
    await round.pause(0, 500);
    await killTree(postgres.pid());
    await postgres.end('SIGKILL');
    await disk?.mend();
    return () => postgres.start();
  },
};

export const dataDiskFull: Scenario = {
  name: 'disk-full-data',
  about: 'the disk with the tables of PostgreSQL is full under load, then has room again',
  needs: NEEDS,
  shortCount: 0,
  longCount: 5,
  cluster: { disk: { holds: 'data', megabytes: MEGABYTES }, postgres: WAL },
  inject: fillUp,
};

export const walDiskFull: Scenario = {
  name: 'disk-full-wal',
  about: 'the disk with the write-ahead log is full under load; PostgreSQL may give up and is then started again',
  needs: NEEDS,
  shortCount: 0,
  longCount: 5,
  cluster: { disk: { holds: 'wal', megabytes: 32 }, postgres: WAL },
  inject: fillUp,
};

async function fillUp(round: Round): Promise<Undo> {
  const { postgres, disk } = round.cluster;
  await disk?.fill();
  // Ask for room while there is none: the load alone may live on what is left in its last pages for a while.
  await wasteRoom(round);
  await round.pause(1_000, round.isLong ? 8_000 : 2_000);
  await disk?.fill();
  return async () => {
    await disk?.free();
    if (await isUp(round)) return;
    // It gave up, or is still at it: an operator starts it anew.
    await killTree(postgres.pid());
    await postgres.end('SIGKILL');
    await postgres.start();
  };
}

async function isUp({ cluster }: Round): Promise<boolean> {
  const deadlineMs = performance.now() + UP_MAX_MS;
  while (performance.now() < deadlineMs) {
    const client = await cluster.postgres.connect().catch(() => undefined);
    if (client) {
      await client.end();
      return true;
    }
    await wait(POLL_MS);
  }
  return false;
}

/** Both kinds of room: a relation that grows, and segments of the log. Whether it fails is not the question. */
async function wasteRoom(round: Round): Promise<void> {
  const client = await round.cluster.postgres.connect().catch(() => undefined);
  if (!client) return;
  const acts = ['CREATE TABLE waste AS SELECT repeat(n::text, 400) FROM generate_series(1, 20000) AS n', 'CHECKPOINT'];
  for (const sql of [...acts, 'DROP TABLE IF EXISTS waste', 'SELECT pg_switch_wal()']) {
    await client.query(sql).catch(() => {});
  }
  await client.end().catch(() => {});
}
