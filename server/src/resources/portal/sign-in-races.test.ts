import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../../testing/eventually.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

describe('a sign-in at the moment', () => {
  let app: TestApp;
  before(async () => {
    app = await startTestApp();
  });
  after(() => app.close());

  async function isSomebodyWaiting(): Promise<boolean> {
    await app.db.owner.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await app.db.owner.query(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return rows.length > 0;
  }

  /** Signs in with a password that was right, while a change of the account is not committed yet. */
  async function assertNoSession(
    change: (owner: TestApp['db']['owner'], userId: string) => Promise<unknown>,
  ): Promise<void> {
    const tenant = await app.makeTenant();
    const { email, userId } = await makePerson(app, tenant.id, 'ADMIN');
    const { owner } = app.db;
    await owner.query('BEGIN');
    await change(owner, userId);
    await owner.query('DELETE FROM portal_sessions WHERE user_id = $1', [userId]);
    const signIn = openBrowser(app).call('POST', '/portal/api/sign-in', { email, password: PASSWORD });
    await eventually('the sign-in waits for the change', isSomebodyWaiting);
    await owner.query('COMMIT');
    assert.equal((await signIn).status, 401);
    const { rows } = await owner.query('SELECT id FROM portal_sessions WHERE user_id = $1', [userId]);
    assert.deepEqual(rows, []);
  }

  it('its password is replaced: 401, though the old one was right when it was checked, and no session is left', () =>
    assertNoSession((owner, userId) =>
      owner.query(`UPDATE user_passwords SET hash = 'another' WHERE user_id = $1`, [userId]),
    ));

  it('an authenticator is added: 401 for the password alone, and no session is left', () =>
    assertNoSession(async (owner, userId) => {
      await owner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
      await owner.query(
        `INSERT INTO user_authenticators (user_id, sealed, last_step, created_at) VALUES ($1, '\\x00', 0, now())`,
        [userId],
      );
    }));

  it('its password is replaced, a change of it is refused: the reset of the owner is not undone', async () => {
    const tenant = await app.makeTenant();
    const { browser, userId } = await makePerson(app, tenant.id, 'ADMIN');
    const { owner } = app.db;
    await owner.query('BEGIN');
    await owner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    await owner.query(`UPDATE user_passwords SET hash = 'of the owner' WHERE user_id = $1`, [userId]);
    await owner.query('DELETE FROM portal_sessions WHERE user_id = $1', [userId]);
    const change = browser.call('POST', '/portal/api/password', {
      current_password: PASSWORD,
      new_password: 'of the thief 4711 x',
    });
    await eventually('the change waits', isSomebodyWaiting);
    await owner.query('COMMIT');
    assert.equal((await change).status, 401);
    const { rows } = await owner.query('SELECT hash FROM user_passwords WHERE user_id = $1', [userId]);
    assert.equal(rows[0].hash, 'of the owner');
  });
});
