import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson } from './portal-fixture.js';

/** Days from now, beyond which everybody here lacks a second factor. */
const YESTERDAY_MS = 86_400_000;

describe('full auditing of calls that only the Portal has', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let reader: Person;
  before(async () => {
    app = await startTestApp({ env: { STRONGROOM_AUDIT: 'full' } });
    tenant = await app.makeTenant('Ours');
    reader = await makePerson(app, tenant.id, 'READ_ONLY');
  });
  after(() => app.close());

  const send = (method: string, path: string, body?: unknown, by = reader) =>
    by.browser.call(method, `/portal/api/tenants/${tenant.id}/${path}`, body);

  /** The first visit of a session is noted in the same millisecond as what it asked for. */
  async function newestBy({ userId }: Person): Promise<unknown[]> {
    const { rows } = await app.db.owner.query(
      `SELECT message, entity_type, entity_id, outcome FROM logs WHERE tenant_id = $1 AND actor_type = 'user' AND actor_id = $2
         AND operation <> 'sign_in'
       ORDER BY created_at DESC, id DESC LIMIT 1`,
      [tenant.id, userId],
    );
    return Object.values(rows[0] ?? {});
  }

  it('has an entry for a list of Applications, of members, and for the rules of signing in', async () => {
    for (const [path, message, entity, id] of [
      ['applications', 'Application listed', 'application', '*'],
      ['members', 'Tenant Member listed', 'tenant_member', '*'],
      ['sign-in-rules', 'Tenant retrieved', 'tenant', tenant.id],
    ] as const) {
      assert.equal((await send('GET', path)).status, 200);
      assert.deepEqual(await newestBy(reader), [message, entity, id, 'success'], path);
    }
  });

  it('has an entry for what a role does not allow', async () => {
    const { status } = await send('PUT', 'sign-in-rules', { second_factor_from: null });
    assert.equal(status, 403);
    assert.deepEqual(await newestBy(reader), ['Request denied', 'tenant', tenant.id, 'denied']);
  });

  it('has an entry for whoever does not sign in as the tenant asks', async () => {
    const admin = await makePerson(app, tenant.id, 'ADMIN');
    await app.db.owner.query('UPDATE tenants SET second_factor_from = $2 WHERE id = $1', [
      tenant.id,
      new Date(Date.now() - YESTERDAY_MS),
    ]);
    for (const [path, entity, id] of [
      ['applications', 'application', '*'],
      ['overview', 'tenant', tenant.id],
      ['logs/histogram', 'tenant', tenant.id],
      ['logs/export?format=csv', 'tenant', tenant.id],
      ['logs/tail', 'tenant', tenant.id],
      ['tokens/x', 'token', '*'],
    ] as const) {
      assert.equal((await send('GET', path, undefined, admin)).status, 403, path);
      assert.deepEqual(await newestBy(admin), ['Request denied', entity, id, 'denied'], path);
    }
  });

  it('has none of these without it', async () => {
    const plain = await startTestApp();
    try {
      const { id } = await plain.makeTenant();
      const one = await makePerson(plain, id, 'READ_ONLY');
      assert.equal((await one.browser.call('GET', `/portal/api/tenants/${id}/applications`)).status, 200);
      const { rows } = await plain.db.owner.query(
        `SELECT DISTINCT message FROM logs WHERE tenant_id = $1 AND actor_type = 'user'`,
        [id],
      );
      assert.deepEqual(rows, [{ message: 'Signed in to the Portal' }]);
    } finally {
      await plain.close();
    }
  });
});
