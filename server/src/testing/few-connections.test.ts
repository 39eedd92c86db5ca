// needs: PostgreSQL packages, pgbouncer

import assert from 'node:assert/strict';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { startPgBouncer } from '@strongroom/test-servers/pgbouncer.js';
import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { generateApiKey } from '../access/api-key.js';
import { ensureLogPartitions } from '../audit/partitions.js';
import { openKeyStore } from '../crypto/key-store.js';
import { generateRootKey } from '../crypto/root-key.js';
import { makeFirstTenant } from '../first-start.js';
import { systemClock } from '../kernel/clock.js';
import { Secret } from '../kernel/secret.js';
import { TABLES } from '../resources.js';
import { beginRotation } from '../rotation/rotate-tenant.js';
import { createDatabase } from '../storage/database.js';
import { serveWith } from './command-runner.js';
import { startMigratedServer } from './migrated-server.js';

/** Enough for any statement on a busy machine, and what a test that fails has to wait. */
const BOUNDS = { acquireMs: 5_000, statementMs: 5_000, lockMs: 5_000 };

suite('behind PgBouncer with very few connections to the server', () => {
  let server: PostgresServer;
  /** Undone after each test, newest first. */
  let undo: (() => unknown)[];

  beforeEach(async () => {
    server = await startMigratedServer();
    undo = [() => server.remove()];
  });
  afterEach(async () => {
    for (const act of undo.reverse()) await act();
  });

  async function addressBehind(poolSize: number): Promise<string> {
    const bouncer = await startPgBouncer(server, poolSize);
    undo.push(bouncer.remove);
    return bouncer.url('service');
  }

  test('with two the first start succeeds, and its key works', async () => {
    const key = generateApiKey('management').reveal();
    const served = await serveWith({
      STRONGROOM_DATABASE_URL: await addressBehind(2),
      STRONGROOM_DATABASE_LISTEN_URL: server.url('service'),
      STRONGROOM_DATABASE_PREPARED_STATEMENTS: 'off',
      STRONGROOM_ROOT_KEY: generateRootKey().reveal(),
      STRONGROOM_BOOTSTRAP_API_KEY: key,
    });
    undo.push(served.kill);
    const answer = await served.call('GET', '/tenants/self', { key });
    assert.equal(answer.status, 200, answer.text);
    await served.stop();
  });

  test('with one the first tenant is made and its key rotated: neither needs a second beside its transaction', async () => {
    const target = { url: new Secret(await addressBehind(1)) };
    const database = createDatabase({ target, clock: systemClock, isPrepared: false, bounds: BOUNDS });
    undo.push(database.close);
    const { keyStore } = await openKeyStore(database, { value: generateRootKey(), isProduction: false });
    await ensureLogPartitions(database, systemClock.nowMs());
    const made = await makeFirstTenant({ database, keyStore }, systemClock, undefined);
    assert.ok(made);
    const wait = () => Promise.reject(new Error('it did not go through at once'));
    const options = { database, keyStore, clock: systemClock, tables: TABLES, wait };
    const begun = await beginRotation(options, made.tenantId);
    assert.equal(begun?.to_version, 2);
    const keys = await keyStore.keyring.forTenant(made.tenantId);
    assert.ok(keys.encryption.byVersion.has(2));
  });
});
