import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const HOUR_MS = 3_600_000;

describe('rows of people that somebody edits', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());

  const faults = () => app.logLines.filter((line) => line.includes('"event":"integrity_fault"')).length;

  async function makeKey({ browser }: Person, edit: () => Promise<unknown>): Promise<number> {
    const device = new SoftwareAuthenticator(`http://localhost:${new URL(app.baseUrl).port}`);
    const { json } = await browser.call('POST', '/portal/api/passkeys/options');
    const answer = device.create(json);
    await edit();
    return (await browser.call('POST', '/portal/api/passkeys', { name: 'key', answer })).status;
  }

  it('503 at the sign-in for a damaged password hash, and the operator is told', async () => {
    const { userId, email } = await makePerson(app, tenant.id, 'ADMIN');
    await app.db.owner.query(`UPDATE user_passwords SET hash = 'x' WHERE user_id = $1`, [userId]);
    const before = faults();
    const { status } = await openBrowser(app).call('POST', '/portal/api/sign-in', { email, password: PASSWORD });
    assert.deepEqual([status, faults()], [503, before + 1]);
  });

  it('400 for a passkey whose challenge was given to another user, made longer, or lost its MAC', async () => {
    const [person, other] = [await makePerson(app, tenant.id, 'ADMIN'), await makePerson(app, tenant.id, 'ADMIN')];
    const edits = [
      () => app.db.owner.query('UPDATE passkey_challenges SET user_id = $1', [other.userId]),
      () => app.db.owner.query(`UPDATE passkey_challenges SET expires_at = expires_at + interval '1 hour'`),
      () => app.db.owner.query('UPDATE passkey_challenges SET mac = NULL'),
    ];
    for (const edit of edits) {
      const before = faults();
      assert.deepEqual([await makeKey(person, edit), faults()], [400, before + 1]);
    }
    assert.equal(await makeKey(person, async () => {}), 200);
  });

  it('401 for a session that was idle for too long, whatever its row says of when it was seen', async () => {
    const { userId, browser } = await makePerson(app, tenant.id, 'ADMIN');
    clock.advance(9 * HOUR_MS);
    assert.equal((await browser.call('GET', '/portal/api/me')).status, 401);
    const before = faults();
    const now = new Date(clock.nowMs());
    await app.db.owner.query('UPDATE portal_sessions SET seen_at = $2 WHERE user_id = $1', [userId, now]);
    assert.deepEqual([(await browser.call('GET', '/portal/api/me')).status, faults()], [401, before + 1]);
  });

  it('200 for a session that is used every few hours', async () => {
    const { browser } = await makePerson(app, tenant.id, 'ADMIN');
    for (let i = 0; i < 4; i += 1) {
      clock.advance(7 * HOUR_MS);
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 200);
    }
  });
});
