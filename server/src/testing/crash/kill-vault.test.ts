// needs: processes

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastFirst, temporaryFolder } from '../../storage/embedded/embedded-fixture.js';
import { eventually } from '../eventually.js';
import { createCaller } from '../http-client.js';
import { startServer } from './child-server.js';
import { createChance, prepareFolder, serverRounds } from './rounds.js';
import { createTokenJournal, startTokenLoad } from './token-load.js';
import { verifyTokens } from './token-verify.js';

const WRITERS_PER_KEY = 4;
const TOKENS_BEFORE_KILL_MAX = 120;
const PERMISSIONS = ['token:create', 'token:read', 'token:search', 'token:update', 'token:delete'];

test('the API killed while tokens are made, read, changed and deleted: every promise holds, every counter is true', async (t) => {
  const defer = lastFirst(t);
  const dataDir = await temporaryFolder(defer);
  const managers = await prepareFolder(dataDir);
  const journal = createTokenJournal();
  const chance = createChance();
  const keys: string[] = [];
  let total = 0;
  for (let round = 0; round <= serverRounds(); round += 1) {
    const story = `round ${round}, seed ${chance.seed}`;
    const server = await startServer(dataDir, managers[0] ?? '');
    defer(() => server.process.kill('SIGKILL'));
    const call = createCaller(server.baseUrl);
    for (const key of round === 0 ? managers : []) {
      const rules = [{ priority: 1, container: '/', transform: 'reveal', permissions: PERMISSIONS }];
      const body = { name: 'Writer', type: 'private', rules };
      const { status, json } = await call('POST', '/applications', { key, body });
      assert.equal(status, 201);
      keys.push(json.key);
    }
    total += journal.tokens.length;
    await verifyTokens(dataDir, call, journal, story);
    if (round === serverRounds()) {
      assert.equal(await server.end('SIGTERM'), 0);
      break;
    }
    const target = 20 + chance.below(TOKENS_BEFORE_KILL_MAX);
    const load = startTokenLoad(call, keys, WRITERS_PER_KEY, journal);
    defer(() => load.stop());
    await eventually('the load is under way', () => journal.tokens.length >= target);
    assert.equal(await server.end('SIGKILL'), 'SIGKILL');
    await load.stop();
  }
  process.stderr.write(`${total} tokens acknowledged, 0 lost; CRASH_SEED=${chance.seed}\n`);
});
