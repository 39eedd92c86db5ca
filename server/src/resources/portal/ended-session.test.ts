import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import type { TestTenant } from '../../testing/test-app.js';
import type { MailedApp } from './mailbox-fixture.js';
import { startMailedApp } from './mailbox-fixture.js';
import type { Browser, Person } from './portal-fixture.js';
import { makePerson, PASSWORD } from './portal-fixture.js';
import { whileHeld } from './waiting-fixture.js';

const DAY_MS = 86_400_000;
const OF_USER = ['user_passwords', 'user_authenticators', 'user_passkeys', 'user_recovery_codes', 'portal_sessions'];

type Send = () => ReturnType<Browser['call']>;

/** A thief's request that passed the door and waits for the lock of whoever throws the thief out. */
describe('a session that is ended while its request is on the way', () => {
  let mailed: MailedApp;
  let tenant: TestTenant;
  before(async () => {
    mailed = await startMailedApp();
    tenant = await mailed.app.makeTenant();
  });
  after(() => mailed.close());
  beforeEach(() => mailed.pass(2 * DAY_MS));

  const codeOf = (secret: string) => hotp(bytesOfBase32(secret), Math.floor(mailed.clock.nowMs() / TOTP_STEP_MS));
  const confirmed = (browser: Browser, secret: string) =>
    browser.call('POST', '/portal/api/authenticator/confirm', { code: codeOf(secret) });

  async function passkeyBody(browser: Browser) {
    const { json } = await browser.call('POST', '/portal/api/passkeys/options');
    return { name: 'Mine', answer: new SoftwareAuthenticator(`http://localhost:${mailed.app.port}`).create(json) };
  }
  async function addPasskey(browser: Browser): Promise<string> {
    assert.equal((await browser.call('POST', '/portal/api/passkeys', await passkeyBody(browser))).status, 200);
    return (await browser.call('GET', '/portal/api/factors')).json.passkeys[0].id;
  }
  async function addAuthenticator(browser: Browser): Promise<void> {
    const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
    assert.equal((await confirmed(browser, secret)).status, 200);
  }

  /** What the operator's reset does: nothing is left but the account. */
  async function evict({ userId }: Person): Promise<void> {
    const { owner } = mailed.app.db;
    await owner.query('SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
    for (const table of OF_USER) await owner.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
  }
  async function left({ userId }: Person): Promise<string[]> {
    const found: string[] = [];
    for (const table of [...OF_USER, 'email_changes', 'user_identities']) {
      const { rowCount } = await mailed.app.db.owner.query(`SELECT FROM ${table} WHERE user_id = $1`, [userId]);
      if (rowCount) found.push(table);
    }
    return found;
  }

  /** Each is prepared while the session is good. */
  const CALLS: Readonly<Record<string, (browser: Browser) => Promise<Send>>> = {
    'adds a passkey': async (browser) => {
      const body = await passkeyBody(browser);
      return () => browser.call('POST', '/portal/api/passkeys', body);
    },
    'removes a passkey': async (browser) => {
      const id = await addPasskey(browser);
      return () => browser.call('DELETE', `/portal/api/passkeys/${id}`);
    },
    'asks for an authenticator': async (browser) => () => browser.call('POST', '/portal/api/authenticator'),
    'confirms an authenticator': async (browser) => {
      const { secret } = (await browser.call('POST', '/portal/api/authenticator')).json;
      return () => confirmed(browser, secret);
    },
    'removes the authenticator': async (browser) => {
      await addAuthenticator(browser);
      return () => browser.call('DELETE', '/portal/api/authenticator');
    },
    'makes recovery codes': async (browser) => {
      await addAuthenticator(browser);
      return () => browser.call('POST', '/portal/api/recovery-codes');
    },
    'steps up': async (browser) => () => browser.call('POST', '/portal/api/step-up', { password: PASSWORD }),
    'changes the password': async (browser) => () =>
      browser.call('POST', '/portal/api/password', { current_password: PASSWORD, new_password: 'of the thief 4711 x' }),
    'gives itself a first password': async (browser) => {
      const id = await addPasskey(browser);
      await mailed.app.db.owner.query(
        'DELETE FROM user_passwords p USING user_passkeys k WHERE k.user_id = p.user_id AND k.id = $1',
        [id],
      );
      return () => browser.call('POST', '/portal/api/password', { new_password: 'of the thief 4711 x' });
    },
    'asks for another address': async (browser) => () =>
      browser.call('POST', '/portal/api/email', { email: 'thief@example.com' }),
  };

  for (const [what, prepare] of Object.entries(CALLS)) {
    it(`401 where it ${what}, and nothing of it is left: no session, no way back in`, async () => {
      const person = await makePerson(mailed.app, tenant.id, 'ADMIN');
      const send = await prepare(person.browser);
      const { status, json } = await whileHeld(mailed.app, () => evict(person), send);
      assert.deepEqual([status, json.code], [401, 'invalid_portal_session']);
      assert.deepEqual(await left(person), []);
      assert.equal((await person.browser.call('GET', '/portal/api/me')).status, 401);
    });
  }

  it('401 for a step-up of a session that is ended and nothing else: none is opened in its place', async () => {
    const person = await makePerson(mailed.app, tenant.id, 'ADMIN');
    const end = () => mailed.app.db.owner.query('DELETE FROM portal_sessions WHERE user_id = $1', [person.userId]);
    const { status } = await whileHeld(mailed.app, end, () =>
      person.browser.call('POST', '/portal/api/step-up', { password: PASSWORD }),
    );
    assert.deepEqual([status, await left(person)], [401, ['user_passwords']]);
  });
});
