import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { startTestApp } from '../../../testing/test-app.js';
import { listTenantsWithDueApplications } from '../queries.js';
import { expireApplications, sweepApplications } from './sweep.js';

describe('applications with an end', () => {
  const clock = createFakeClock(Date.UTC(2030, 0, 15));
  let app: TestApp;
  before(async () => {
    app = await startTestApp({ clock });
  });
  after(() => app.close());

  async function make(tenant: TestTenant, inMs: number): Promise<{ id: string; key: string }> {
    const body = {
      name: 'A',
      type: 'private',
      permissions: ['token:read'],
      expires_at: new Date(clock.nowMs() + inMs).toISOString(),
    };
    return (await app.call('POST', '/applications', { key: tenant.key, body })).json;
  }

  it('401 and 404 from the very millisecond it ends, before anything was swept', async () => {
    const tenant = await app.makeTenant();
    const { id, key } = await make(tenant, 1_000);
    const statuses = async () => [
      (await app.call('GET', '/permissions', { key })).status,
      (await app.call('GET', `/applications/${id}`, { key: tenant.key })).status,
      (await app.call('GET', '/applications', { key: tenant.key })).json.pagination.total_items,
    ];
    clock.advance(999);
    assert.deepEqual(await statuses(), [200, 200, 2]);
    clock.advance(1);
    assert.deepEqual(await statuses(), [401, 404, 1]);
    const body = { name: 'Back', permissions: ['token:read'] };
    for (const [method, path, sent] of [
      ['PUT', '', body],
      ['DELETE', '', undefined],
      ['POST', '/keys', undefined],
      ['POST', '/regenerate', undefined],
    ] as const) {
      const answer = await app.call(method, `/applications/${id}${path}`, {
        key: tenant.key,
        ...(sent && { body: sent }),
      });
      assert.equal(answer.status, 404, `${method} ${path}`);
    }
  });

  it('the sweep removes what is due, its keys with it, with an entry that names nobody, and leaves the rest', async () => {
    const [one, two] = [await app.makeTenant(), await app.makeTenant()];
    const due = [await make(one, 1_000), await make(one, 2_000), await make(two, 1_000)];
    const later = await make(one, 3_000);
    clock.advance(2_000);
    assert.ok((await sweepApplications(app.database, clock.nowMs())) >= 3);
    assert.equal(await sweepApplications(app.database, clock.nowMs()), 0);
    for (const { id } of due) {
      const rows = await app.db.owner.query('SELECT FROM applications WHERE id = $1', [id]);
      const keys = await app.db.owner.query('SELECT FROM api_keys WHERE application_id = $1', [id]);
      const logs = await app.db.owner.query(
        `SELECT operation, actor_id, actor_type FROM logs WHERE entity_id = $1 AND message = 'Application expired'`,
        [id],
      );
      assert.deepEqual([rows.rowCount, keys.rowCount], [0, 0]);
      assert.deepEqual(logs.rows, [{ operation: 'delete', actor_id: null, actor_type: null }]);
    }
    assert.equal((await app.call('GET', '/permissions', { key: later.key })).status, 200);
  });

  it('the sweep is bounded: a call removes no more than it is told to', async () => {
    const tenant = await app.makeTenant();
    for (let made = 0; made < 5; made += 1) await make(tenant, 1_000);
    clock.advance(1_000);
    const swept = [];
    for (let turn = 0; turn < 4; turn += 1)
      swept.push(await expireApplications(app.database, tenant.id, clock.nowMs(), 2));
    assert.deepEqual(swept, [2, 2, 1, 0]);
  });

  it('the sweep leaves deleted tenants to the purge', async () => {
    const tenant = await app.makeTenant();
    await make(tenant, 1_000);
    clock.advance(1_000);
    const isDue = async () =>
      (await app.database.lookUp((tx) => listTenantsWithDueApplications(tx, clock.nowMs(), 1_000))).includes(tenant.id);
    assert.ok(await isDue());
    await app.db.owner.query('UPDATE tenants SET deleted_at = now() WHERE id = $1', [tenant.id]);
    assert.ok(!(await isDue()));
  });
});
