import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, beforeEach, describe, it } from 'node:test';
import { peopleJobs } from '../../people/jobs.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import { addressMacOf } from '../../people/users/address-mac.js';
import type { TestTenant } from '../../testing/test-app.js';
import { makeAdministration } from '../members/member-fixture.js';
import type { MailedApp } from './mailbox-fixture.js';
import { secretIn, startMailedApp } from './mailbox-fixture.js';
import type { Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';
import { somebodyWaits } from './waiting-fixture.js';

const DAY_MS = 86_400_000;
const NEW_PASSWORD = 'another horse battery staple 18';
/** What may be locked before the user: what is counted, which is locked first everywhere. */
const BEFORE_USER = ['sign_in_failures', 'users'];

/** Two requests that lock the rows of a user in different orders would wait for each other, and one would be a 503. */
describe('requests that change one account at the same moment', () => {
  let mailed: MailedApp;
  let tenant: TestTenant;
  before(async () => {
    mailed = await startMailedApp();
    tenant = await mailed.app.makeTenant('Ours');
  });
  after(() => mailed.close());
  beforeEach(() => mailed.pass(2 * DAY_MS));

  const query = (text: string, values: unknown[] = []) => mailed.app.db.owner.query(text, values);
  const anybody = (path: string, body: object) => openBrowser(mailed.app).call('POST', `/portal/api${path}`, body);
  const newPerson = () => makePerson(mailed.app, tenant.id, 'ADMIN');

  /** The link at the old address was followed; this is the other one. */
  async function halfChanged({ browser, email }: Person, mailsBefore = 1): Promise<string> {
    const to = `new-${randomUUID()}@example.com`;
    assert.equal((await browser.call('POST', '/portal/api/email', { email: to })).status, 202);
    const atOld = secretIn(await mailed.mailsTo(email, mailsBefore + 1), 'confirm-email');
    const atNew = secretIn(await mailed.mailsTo(to, 1), 'confirm-email');
    assert.equal((await anybody('/email/confirm', { secret: atOld })).status, 200);
    return atNew;
  }
  const changePassword = ({ browser }: Person) =>
    browser.call('POST', '/portal/api/password', { current_password: PASSWORD, new_password: NEW_PASSWORD });

  it('200 and 200 or 404 for a new password and the confirmation of an address, which both wait for the same row', async () => {
    const person = await newPerson();
    const secret = await halfChanged(person);
    await query('BEGIN');
    await query('SELECT FROM email_changes WHERE user_id = $1 FOR UPDATE', [person.userId]);
    const confirm = anybody('/email/confirm', { secret });
    await somebodyWaits(mailed.app, 1);
    const change = changePassword(person);
    await somebodyWaits(mailed.app, 2);
    await query('COMMIT');
    assert.deepEqual([(await confirm).status, (await change).status], [200, 200]);
  });

  it('202 for a forgotten password that is asked for while an address is confirmed', async () => {
    const person = await newPerson();
    await anybody('/password/forgotten', { email: person.email });
    await mailed.pass(2 * 60_000);
    const secret = await halfChanged(person, 2);
    await query('BEGIN');
    await query('SELECT FROM user_links WHERE user_id = $1 FOR UPDATE', [person.userId]);
    const confirm = anybody('/email/confirm', { secret });
    await somebodyWaits(mailed.app, 1);
    const forgotten = anybody('/password/forgotten', { email: person.email });
    await somebodyWaits(mailed.app, 2);
    await query('COMMIT');
    assert.deepEqual([(await confirm).status, (await forgotten).status], [200, 202]);
  });

  /** The tables in which whoever waits now has changed or locked rows. */
  async function touchedByWaiting(): Promise<string[]> {
    const { rows } = await query(
      `SELECT DISTINCT l.relation::regclass::text AS name FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
       JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r'
       WHERE a.datname = current_database() AND a.wait_event_type = 'Lock' AND l.mode IN ('RowShareLock', 'RowExclusiveLock')`,
    );
    return rows.map(({ name }) => name);
  }

  const passkeyOf = async ({ browser }: Person) => {
    const device = new SoftwareAuthenticator(`http://localhost:${mailed.app.port}`);
    const { json } = await browser.call('POST', '/portal/api/passkeys/options');
    const body = { name: 'Key', answer: device.create(json) };
    assert.equal((await browser.call('POST', '/portal/api/passkeys', body)).status, 200);
    return device;
  };
  const operator = () => makeAdministration(mailed.app, mailed.clock);

  const CALLS: Readonly<Record<string, (person: Person) => Promise<() => Promise<unknown>>>> = {
    'a sign-in':
      async ({ email }) =>
      () =>
        anybody('/sign-in', { email, password: PASSWORD }),
    'a sign-in with a passkey': async (person) => {
      const device = await passkeyOf(person);
      const { json } = await anybody('/sign-in/passkey/options', {});
      return () => person.browser.call('POST', '/portal/api/sign-in/passkey', { answer: device.get(json) });
    },
    'a step-up':
      async ({ browser }) =>
      () =>
        browser.call('POST', '/portal/api/step-up', { password: PASSWORD }),
    'a new password': async (person) => () => changePassword(person),
    'a forgotten password':
      async ({ email }) =>
      () =>
        anybody('/password/forgotten', { email }),
    'a password by a link': async ({ email }) => {
      await anybody('/password/forgotten', { email });
      const secret = secretIn(await mailed.mailsTo(email, 2), 'reset-password');
      return () => anybody('/password/reset', { secret, password: NEW_PASSWORD });
    },
    'a new address that is asked for':
      async ({ browser }) =>
      () =>
        browser.call('POST', '/portal/api/email', { email: `${randomUUID()}@example.com` }),
    'a new address that is confirmed': async (person) => {
      const secret = await halfChanged(person);
      return () => anybody('/email/confirm', { secret });
    },
    'an authenticator':
      async ({ browser }) =>
      () =>
        browser.call('POST', '/portal/api/authenticator'),
    'a passkey that is removed': async (person) => {
      await passkeyOf(person);
      const [{ id }] = (await person.browser.call('GET', '/portal/api/factors')).json.passkeys;
      return () => person.browser.call('DELETE', `/portal/api/passkeys/${id}`);
    },
    'a reset by the operator':
      async ({ email }) =>
      async () => {
        const user = (await operator().find(email)) ?? assert.fail();
        return operator().resetPassword(user, { withSecondFactors: true });
      },
    'a user who is disabled':
      async ({ userId }) =>
      () =>
        operator().disable(userId),
    'an invitation that proves the address': async ({ userId, email, browser }) => {
      await query('UPDATE users SET email_verified_at = NULL, email_mac = $2 WHERE id = $1', [
        userId,
        addressMacOf(mailed.app.keyStore.systemKeys.rowMac, userId, { email, verifiedAt: null }),
      ]);
      const { key } = await mailed.app.makeTenant('Host');
      await mailed.app.call('POST', '/tenants/self/invitations', { key, body: { email } });
      const secret = secretIn(await mailed.mailsTo(email, 2), 'invitations/accept');
      return () => browser.call('POST', '/portal/api/invitations/accept', { secret });
    },
  };

  for (const [what, prepare] of Object.entries(CALLS)) {
    it(`the user is locked before anything else of it: ${what}`, async () => {
      const person = await newPerson();
      const send = await prepare(person);
      await query('BEGIN');
      await query('SELECT FROM users WHERE id = $1 FOR UPDATE', [person.userId]);
      const sent = send();
      await somebodyWaits(mailed.app);
      const touched = await touchedByWaiting();
      await query('COMMIT');
      await sent;
      assert.deepEqual(
        touched.filter((name) => !BEFORE_USER.includes(name)),
        [],
      );
      assert.ok(touched.includes('users'));
    });
  }

  it('the job that takes away what is over leaves what somebody holds, and waits for nobody', async () => {
    const [held, free] = [await newPerson(), await newPerson()];
    await mailed.pass(8 * DAY_MS);
    const [job] = peopleJobs(mailed.app.database);
    const left = async () => {
      const { rows } = await query('SELECT user_id FROM portal_sessions WHERE user_id = ANY ($1)', [
        [held.userId, free.userId],
      ]);
      return rows.map(({ user_id }) => user_id);
    };
    await query('BEGIN');
    await query('SELECT FROM portal_sessions WHERE user_id = $1 FOR UPDATE', [held.userId]);
    await job?.step(mailed.clock.nowMs());
    assert.deepEqual(await left(), [held.userId]);
    await query('COMMIT');
    await job?.step(mailed.clock.nowMs());
    assert.deepEqual(await left(), []);
  });

  it('challenges of passkeys are bounded: the oldest go first', async () => {
    for (let n = 0; n < 5; n += 1) {
      assert.equal((await anybody('/sign-in/passkey/options', {})).status, 200);
      await mailed.pass(1_000);
    }
    const expiries = async () => (await query('SELECT expires_at FROM passkey_challenges ORDER BY expires_at')).rows;
    const before = await expiries();
    const [job] = peopleJobs(mailed.app.database, { challengesMax: 2 });
    await job?.step(mailed.clock.nowMs());
    assert.deepEqual(await expiries(), before.slice(-2));
  });
});
