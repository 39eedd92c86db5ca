// needs: processes

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { generateApiKey } from '../../access/api-key.js';
import { lastFirst, temporaryFolder } from '../../storage/embedded/embedded-fixture.js';
import { createCaller } from '../http-client.js';
import { spawnServer, startServer } from './child-server.js';
import { createChance, serverRounds } from './rounds.js';

/** A first start takes a second or two: the moments cover all of it and a little more. */
const FIRST_START_MS = 3_000;
const KILLS_PER_FOLDER = 2;

test('killed at any moment of the first start, the next start makes a whole installation', async (t) => {
  const chance = createChance();
  process.stderr.write(`first start killed; CRASH_SEED=${chance.seed}\n`);
  for (let round = 1; round <= serverRounds(); round += 1) {
    const defer = lastFirst(t);
    const dataDir = await temporaryFolder(defer);
    const key = generateApiKey('management').reveal();
    for (let kill = 0; kill < KILLS_PER_FOLDER; kill += 1) {
      const child = spawnServer(dataDir, key);
      const ended = once(child, 'exit');
      await pause(chance.below(FIRST_START_MS));
      child.kill('SIGKILL');
      await ended;
    }
    const server = await startServer(dataDir, key);
    defer(() => server.process.kill('SIGKILL'));
    const call = createCaller(server.baseUrl);
    assert.equal((await call('PUT', '/tenants/self', { key, body: { name: 'Whole' } })).status, 200);
    const logs = await call('GET', '/logs', { key });
    assert.deepEqual([logs.status, logs.json.data.length], [200, 3], `round ${round}, seed ${chance.seed}`);
    assert.equal(await server.end('SIGTERM'), 0);
  }
});
