// needs: processes

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { findClusterProcesses } from '../../storage/embedded/cluster-processes.js';
import { lastFirst, temporaryFolder } from '../../storage/embedded/embedded-fixture.js';
import { eventually } from '../eventually.js';
import { startServer } from './child-server.js';
import { createJournal, NO_ANSWER, startLoad } from './journal.js';
import { apiRounds, createChance, prepareFolder, tellRounds } from './rounds.js';
import { verify } from './verify.js';

const WRITERS_PER_KEY = 6;
const UPDATES_BEFORE_KILL_MAX = 500;

test('the API killed under load, again and again: nothing acknowledged is lost, nothing is half done', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const keys = await prepareFolder(dataDir);
  const [key = ''] = keys;
  const journal = createJournal();
  const chance = createChance();
  for (let round = 1; round <= apiRounds(); round += 1) {
    const story = `round ${round}, seed ${chance.seed}`;
    const server = await startServer(dataDir, key);
    defer(() => server.process.kill('SIGKILL'));
    await verify(dataDir, journal, story);
    const target = journal.acknowledged.size + 1 + chance.below(UPDATES_BEFORE_KILL_MAX);
    const load = startLoad(server.baseUrl, keys, WRITERS_PER_KEY, journal);
    defer(() => load.stop());
    await eventually('the load is under way', () => journal.acknowledged.size >= target);
    assert.equal(await server.end('SIGKILL'), 'SIGKILL');
    await load.stop();
    // Every other time the next start meets what the killed process left behind.
    if (round % 2 === 0) continue;
    const cluster = join(dataDir, 'postgres');
    const isGone = async () => (await findClusterProcesses(cluster)).length === 0;
    await eventually('the embedded server is gone as well', isGone);
  }
  const last = await startServer(dataDir, key);
  defer(() => last.process.kill('SIGKILL'));
  const unheard = await verify(dataDir, journal, `the last start, seed ${chance.seed}`);
  assert.equal(await last.end('SIGTERM'), 0);
  const figures = `${journal.acknowledged.size} updates acknowledged, 0 lost, ${unheard} made but not answered`;
  tellRounds(`API killed ${apiRounds()} times: ${figures}`, chance, journal);
});

test('SIGTERM under load: exit 0, and every acknowledged update is there', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const keys = await prepareFolder(dataDir);
  const [key = ''] = keys;
  const journal = createJournal();
  const chance = createChance();
  for (let round = 1; round <= 2; round += 1) {
    const server = await startServer(dataDir, key);
    defer(() => server.process.kill('SIGKILL'));
    const target = journal.acknowledged.size + 50 + chance.below(UPDATES_BEFORE_KILL_MAX);
    const load = startLoad(server.baseUrl, keys, WRITERS_PER_KEY, journal);
    defer(() => load.stop());
    await eventually('the load is under way', () => journal.acknowledged.size >= target);
    assert.equal(await server.end('SIGTERM'), 0);
    await load.stop();
    const broken = journal.statuses.get(NO_ANSWER) ?? 0;
    assert.ok(broken > 0, 'the load did not outlast the server');
    assert.deepEqual(await findClusterProcesses(join(dataDir, 'postgres')), []);
    const next = await startServer(dataDir, key);
    defer(() => next.process.kill('SIGKILL'));
    await verify(dataDir, journal, `round ${round}, seed ${chance.seed}`);
    assert.equal(await next.end('SIGTERM'), 0);
  }
  tellRounds(`SIGTERM twice: ${journal.acknowledged.size} updates acknowledged, 0 lost`, chance, journal);
});
