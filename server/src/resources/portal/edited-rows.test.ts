import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import { createLinks } from '../../people/links/links.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const DAY_MS = 86_400_000;

/** Somebody who writes to the database, has an account of its own, and wants into a tenant of others. */
describe('rows of people that were edited', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());

  const invite = (email: string) =>
    app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email, role: 'ADMIN' } });
  const secretOf = (link: string) => link.slice(link.indexOf('#') + 1);

  it('an owner written into a tenant is no member of it after the set-up', async () => {
    const { ownerId } = await app.makeTenant('Neighbour');
    const links = createLinks({ clock: systemClock, keys: app.keyStore.systemKeys });
    const link = await app.database.people((tx) => links.make(tx, ownerId, 'set-up', DAY_MS));
    await app.db.owner.query('UPDATE tenants SET owner_id = $2 WHERE id = $1', [tenant.id, ownerId]);
    const attacker = openBrowser(app);
    const given = { secret: link.reveal(), email: `${randomUUID()}@example.com`, password: PASSWORD };
    assert.equal((await attacker.call('POST', '/portal/api/set-up', given)).status, 200);
    const { memberships } = (await attacker.call('GET', '/portal/api/me')).json;
    assert.ok(!memberships.some(({ tenant_id: id }: { tenant_id: string }) => id === tenant.id));
    const self = await attacker.call('GET', '/tenants/self', undefined, { 'SVC-TENANT-ID': tenant.id });
    assert.equal(self.status, 404);
  });

  it('an address written to a user accepts no invitation, and the security log says so', async () => {
    const attacker = await makePerson(app, (await app.makeTenant('Neighbour')).id, 'ADMIN');
    const email = `${randomUUID()}@example.com`;
    const secret = secretOf((await invite(email)).json.link);
    await app.db.owner.query('UPDATE users SET email = $2 WHERE id = $1', [attacker.userId, email]);
    const { status } = await attacker.browser.call('POST', '/portal/api/invitations/accept', { secret });
    assert.equal(status, 503);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes(attacker.userId)));
  });

  it('an address written into an invitation is sent no link, shown none, and registers nobody', async () => {
    const { json } = await invite(`${randomUUID()}@example.com`);
    const evil = `${randomUUID()}@example.com`;
    await app.db.owner.query('UPDATE invitations SET email = $2 WHERE id = $1', [json.id, evil]);
    const resent = await app.call('POST', `/tenants/self/invitations/${json.id}/resend`, { key: tenant.key });
    assert.equal(resent.status, 503);
    const secret = secretOf(json.link);
    for (const [path, body] of [
      ['/portal/api/invitations/preview', { secret }],
      ['/portal/api/invitations/register', { secret, password: PASSWORD }],
    ] as const) {
      assert.equal((await openBrowser(app).call('POST', path, body)).status, 404);
    }
    const { rows } = await app.db.owner.query('SELECT id FROM users WHERE email = $1', [evil]);
    assert.deepEqual(rows, []);
  });

  it('an authenticator that was offered is not in use because its secret was copied there', async () => {
    const { browser, userId, email } = await makePerson(app, tenant.id, 'ADMIN');
    const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
    await app.db.owner.query('UPDATE user_authenticators SET sealed = pending WHERE user_id = $1', [userId]);
    const code = hotp(bytesOfBase32(secret), Math.floor(systemClock.nowMs() / TOTP_STEP_MS));
    const typed = { email, password: PASSWORD, one_time_code: code };
    assert.equal((await openBrowser(app).call('POST', '/portal/api/sign-in', typed)).status, 503);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes(userId)));
  });
});
