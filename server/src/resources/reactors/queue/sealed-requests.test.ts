// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { keyVersionOf } from '../../../crypto/aead.js';
import { openKeyStore } from '../../../crypto/key-store.js';
import { systemClock } from '../../../kernel/clock.js';
import { TABLES } from '../../../resources.js';
import { rotateTenants } from '../../../rotation/rotate-tenants.js';
import { createFakeTime } from '../../../rotation/rotation-fixture.js';
import { verifyKeys } from '../../../rotation/verify.js';
import type { Database } from '../../../storage/database.js';
import { createDatabase } from '../../../storage/database.js';
import { eventually } from '../../../testing/eventually.js';
import type { TestApp } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';
import type { QueueTenant } from './queue-fixture.js';
import { queueTenant, USES } from './queue-fixture.js';

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}

describe('sealed requests of Reactors', () => {
  let app: TestApp;
  let database: Database;
  let of: QueueTenant;
  let reactorId: string;
  before(async () => {
    app = await startTestApp();
    database = createDatabase({ target: app.db.target, isDistributed: app.db.isDistributed, clock: systemClock });
    of = await queueTenant(app);
    reactorId = (await of.make('module.exports = async (req) => ({ raw: req.args });')).id;
  });
  after(async () => {
    await database.close();
    await app.close();
  });

  const sql = (text: string, values: unknown[] = []) => app.db.owner.query(text, values);
  async function done(args: unknown): Promise<string> {
    const requestId = await of.ask(reactorId, { args });
    assert.equal((await of.result(reactorId, requestId)).status, 200);
    return requestId;
  }
  async function faults(): Promise<string[]> {
    const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
    const found: string[] = [];
    const options = { database, keyStore, tables: TABLES, wait: createFakeTime().wait, onProgress: () => {} };
    await verifyKeys({ ...options, onFault: ({ table, id }) => found.push(`${table} ${id}`) }, only(of.tenant.id));
    return found;
  }

  it('503 for a result that was altered, moved or given to somebody else; told to the operator, found by verify', async () => {
    const other = await app.makeApplication(of.tenant.id, 'private', USES);
    const [requestId, twin] = [await done('mine'), await done('its twin')];
    const row = (await of.row(requestId)) ?? {};
    for (const set of [
      `actor_id = '${other.id}'`,
      "actor_type = 'session'",
      'version = version + 1',
      `sealed = (SELECT sealed FROM reactor_requests WHERE id = '${twin}')`,
      'sealed = set_byte(sealed, length(sealed) - 1, get_byte(sealed, length(sealed) - 1) # 1)',
    ]) {
      app.logLines.length = 0;
      await sql(`UPDATE reactor_requests SET ${set} WHERE id = $1`, [requestId]);
      for (const key of [of.caller.key, other.key]) {
        const { status, json } = await app.call('GET', `/reactors/${reactorId}/results/${requestId}`, { key });
        assert.deepEqual([status, json.code], [503, 'storage_unavailable'], set);
      }
      assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes(requestId)));
      assert.deepEqual(await faults(), [`reactor_requests ${requestId}`]);
      await sql('UPDATE reactor_requests SET actor_id = $2, actor_type = $3, version = $4, sealed = $5 WHERE id = $1', [
        ...[requestId, row.actor_id, row.actor_type, row.version, row.sealed],
      ]);
    }
    assert.deepEqual(await faults(), []);
  });

  it('one that was given the rights of somebody else does not run: it fails', async () => {
    const other = await app.makeApplication(of.tenant.id, 'private', USES);
    const requestId = await done('x');
    await sql("UPDATE reactor_requests SET state = 'queued', actor_id = $2 WHERE id = $1", [requestId, other.id]);
    await eventually('it failed', async () => (await of.row(requestId))?.state === 'failed');
    const row = await of.row(requestId);
    assert.deepEqual([row?.failure_code, row?.failure_status], ['storage_unavailable', 503]);
    await sql('DELETE FROM reactor_requests WHERE id = $1', [requestId]);
  });

  it('a rotation seals them anew, in steps, and they open as before', async () => {
    const asked = await Promise.all(Array.from({ length: 9 }, (_, at) => done(at)));
    const { keyStore } = await openKeyStore(database, { value: rootKeyOf(app), isProduction: false });
    const { clock, wait } = createFakeTime(() =>
      eventually('the server has the new key', async () => {
        return (await app.keyStore.keyring.forTenant(of.tenant.id)).encryption.currentVersion === 2;
      }),
    );
    const options = { database, keyStore, clock, wait, tables: TABLES, onProgress: () => {} };
    const { finished, faults: failed } = await rotateTenants(options, only(of.tenant.id));
    assert.deepEqual([finished, failed], [1, []]);
    const { rows } = await sql('SELECT sealed FROM reactor_requests WHERE tenant_id = $1', [of.tenant.id]);
    assert.deepEqual([...new Set(rows.map(({ sealed }) => keyVersionOf(sealed)))], [2]);
    for (const [at, requestId] of asked.entries()) {
      assert.deepEqual((await of.result(reactorId, requestId)).json, { raw: at });
    }
    assert.deepEqual(await faults(), []);
  });
});
