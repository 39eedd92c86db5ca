// needs: processes

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastFirst, temporaryFolder } from '../../storage/embedded/embedded-fixture.js';
import type { ServerAddress } from '../../storage/embedded/embedded-server.js';
import { findRunningServer } from '../../storage/embedded/running-server.js';
import { connectAs } from '../empty-database.js';
import { eventually } from '../eventually.js';
import type { ChildServer } from './child-server.js';
import { startServer } from './child-server.js';
import { createJournal, NO_ANSWER, startLoad } from './journal.js';
import { createChance, prepareFolder, serverRounds, tellRounds } from './rounds.js';
import { verify } from './verify.js';

const WRITERS_PER_KEY = 6;
const UPDATES_BEFORE_KILL_MAX = 500;
const UPDATES_AFTER_RETURN = 100;
/** Waits of the product add up to a few seconds; the rest is for a machine that others use too. */
const ANSWER_MAX_MS = 60_000;

async function runningServer(dataDir: string): Promise<ServerAddress> {
  const server = await findRunningServer(dataDir);
  assert.ok(server, 'the embedded server takes connections');
  return server;
}

/** One of the connections of the service. PostgreSQL answers the death of one by restarting them all. */
async function findBackend({ socketDir, port, database, ownerRole }: ServerAddress): Promise<number> {
  const client = await connectAs({ socketDir, port, database, user: ownerRole });
  const { rows } = await client.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity WHERE usename = 'strongroom' ORDER BY state = 'idle', random() LIMIT 1`,
  );
  await client.end();
  assert.ok(rows[0], 'the service is connected');
  return rows[0].pid;
}

const VICTIMS = {
  'the embedded server': async (server: ServerAddress) => server.pid,
  'a connection of the embedded server': findBackend,
};

for (const [victim, find] of Object.entries(VICTIMS)) {
  test(`${victim} killed under load: 503 in time, back by itself, nothing acknowledged is lost`, async (t) => {
    const defer = lastFirst(t);
    const dataDir = await temporaryFolder(defer);
    const keys = await prepareFolder(dataDir);
    const api: ChildServer = await startServer(dataDir, keys[0] ?? '');
    defer(() => api.process.kill('SIGKILL'));
    const journal = createJournal();
    const chance = createChance();
    let awayMostMs = 0;
    let unheard = 0;
    for (let round = 1; round <= serverRounds(); round += 1) {
      const story = `round ${round}, seed ${chance.seed}`;
      const acknowledgedTo = (count: number) => () => journal.acknowledged.size >= count;
      const load = startLoad(api.baseUrl, keys, WRITERS_PER_KEY, journal);
      defer(() => load.stop());
      const target = journal.acknowledged.size + 1 + chance.below(UPDATES_BEFORE_KILL_MAX);
      await eventually('the load is under way', acknowledgedTo(target));
      const unavailableBefore = journal.statuses.get(503) ?? 0;
      process.kill(await find(await runningServer(dataDir)), 'SIGKILL');
      const killedMs = performance.now();
      await eventually('503 is answered', () => (journal.statuses.get(503) ?? 0) > unavailableBefore);
      const resumed = journal.acknowledged.size + UPDATES_AFTER_RETURN;
      await eventually('updates are acknowledged again', acknowledgedTo(resumed));
      awayMostMs = Math.max(awayMostMs, performance.now() - killedMs);
      await load.stop();
      unheard = await verify(dataDir, journal, story);
    }
    assert.ok(journal.slowestMs < ANSWER_MAX_MS, `an answer took ${journal.slowestMs} ms`);
    assert.equal(journal.statuses.get(NO_ANSWER), undefined, 'the API itself went away');
    assert.equal(await api.end('SIGTERM'), 0);
    const away = `back after at most ${Math.round(awayMostMs)} ms`;
    const figures = `${journal.acknowledged.size} updates acknowledged, 0 lost, ${unheard} made but not answered, ${away}`;
    tellRounds(`${victim} killed ${serverRounds()} times: ${figures}`, chance, journal);
  });
}
