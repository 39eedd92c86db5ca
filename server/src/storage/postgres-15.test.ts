// needs: PostgreSQL 15

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { permissionsOf } from '../access/permissions.js';
import { generateRootKey } from '../crypto/root-key.js';
import { connectAs } from '../testing/empty-database.js';
import { eventually } from '../testing/eventually.js';
import { startTestApp } from '../testing/test-app.js';
import type { TestDatabase } from '../testing/test-database.js';
import { lastFirst, startFor, temporaryFolder } from './embedded/embedded-fixture.js';
import { refuseUnfitLogin } from './login.js';
import { migrate } from './migrate.js';
import { readMigrations } from './migrations.js';
import { refuseOldSchema } from './readiness.js';

const BIN_DIR = '/usr/lib/postgresql/15/bin';
const LOGIN = 'strongroom';

/** The oldest server that is supported: nothing newer may slip into a migration or a statement. */
test('on PostgreSQL 15 every migration applies, twice, and the API writes, reads, deletes and purges', async (t) => {
  const defer = lastFirst(t);
  const server = await startFor(defer, await temporaryFolder(defer), { binDir: BIN_DIR });
  const { socketDir, port, database, ownerRole } = server;
  const ownerTarget = { socketDir, port, database, user: ownerRole };
  const owner = await connectAs(ownerTarget);
  defer(() => owner.end());
  const { rows } = await owner.query<{ version: number }>(
    `SELECT current_setting('server_version_num')::int AS version`,
  );
  assert.equal(Math.floor((rows[0]?.version ?? 0) / 10_000), 15);

  const options = { owner: ownerTarget, login: LOGIN, createLogin: true };
  const shipped = await readMigrations();
  assert.deepEqual(
    await migrate(options),
    shipped.map(({ name }) => name),
  );
  assert.deepEqual(await migrate(options), []);

  const db: TestDatabase = { target: { ...ownerTarget, user: LOGIN }, owner, ownerTarget, drop: async () => {} };
  const app = await startTestApp({ beside: { db, rootKey: generateRootKey() }, env: { STRONGROOM_AUDIT: 'full' } });
  defer(() => app.close());
  await refuseOldSchema(app.database);
  await refuseUnfitLogin(db.target);

  const tenant = await app.makeTenant('On the oldest server');
  const kept = await app.makeTenant('Beside it');
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key: tenant.key, body });
  const updated = await call('PUT', '/tenants/self', { name: 'Renamed', settings: { deduplicate_tokens: 'true' } });
  assert.deepEqual([updated.status, updated.json.name], [200, 'Renamed']);
  const reads = ['/tenants/self', '/tenants/self/reports/usage', '/permissions', '/logs', '/logs/entity-types'];
  for (const path of reads) assert.equal((await call('GET', path)).status, 200, path);
  const actor = `actor_id=${updated.json.modified_by}`;
  for (const filter of [
    ...['entity_type=tenant', `entity_id=${tenant.id}`, actor, 'operation=update', 'outcome=success'],
    ...[`${actor}&entity_id=${tenant.id}`, `${actor}&entity_type=tenant&operation=update&outcome=success`],
  ]) {
    for (const page of ['', '&page=1']) {
      const { status, json } = await call('GET', `/logs?size=1${page}&${filter}`);
      assert.deepEqual([status, json.data.length], [200, 1], filter + page);
    }
  }
  assert.equal((await call('GET', '/logs?page=2&size=1')).status, 200);
  await app.makeKey(tenant.id, 'management', permissionsOf('management'));

  assert.equal((await call('DELETE', '/tenants/self')).status, 204);
  assert.equal((await call('GET', '/tenants/self')).status, 401);
  await eventually('the purge has removed what the deleted tenant had', async () => {
    const left = await owner.query('SELECT 1 FROM applications WHERE tenant_id = $1', [tenant.id]);
    return left.rows.length === 0;
  });
  const logs = await owner.query('SELECT 1 FROM logs WHERE tenant_id = $1', [tenant.id]);
  assert.ok(logs.rows.length > 0, 'its log stays');
  assert.equal((await app.call('GET', '/tenants/self', { key: kept.key })).status, 200);
});
