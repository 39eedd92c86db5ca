import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { MailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { startMailCatcher } from '@strongroom/test-servers/mail-catcher.js';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import { SoftwareAuthenticator } from '../../people/passkeys/authenticator-fixture.js';
import { eventually } from '../../testing/eventually.js';
import type { MadeMember } from '../members/member-fixture.js';
import { makeMember } from '../members/member-fixture.js';
import type { IssuedApp } from './issued-app-fixture.js';
import { IDENTITIES, startIssuedApp } from './issued-app-fixture.js';
import { mailTextOf } from './mailbox-fixture.js';
import type { Browser } from './portal-fixture.js';
import { givePassword, openBrowser, PASSWORD } from './portal-fixture.js';

const NEW_PASSWORD = 'another horse battery staple 18';

describe('what is done with an account', () => {
  let catcher: MailCatcher;
  let issued: IssuedApp;
  let member: MadeMember;
  let browser: Browser;
  before(async () => {
    catcher = await startMailCatcher();
    issued = await startIssuedApp({
      STRONGROOM_SMTP_URL: `smtp://127.0.0.1:${catcher.port}`,
      STRONGROOM_MAIL_FROM: 'vault@example.com',
    });
    member = await makeMember(issued.app, (await issued.app.makeTenant()).id, 'ADMIN');
    await givePassword(issued.app, member.userId);
    browser = openBrowser(issued.app);
  });
  after(async () => {
    await issued.close();
    await catcher.close();
  });

  const post = (path: string, body?: object) => browser.call('POST', `/portal/api${path}`, body);
  const signIn = (password: string) => post('/sign-in', { email: member.email, password });
  const factors = async () => (await browser.call('GET', '/portal/api/factors')).json;

  /** Events of the security log about the user, oldest first. */
  function events(): string[] {
    const lines = issued.app.logLines.map((line) => JSON.parse(line));
    return lines
      .filter(({ stream, userId }) => stream === 'security' && userId === member.userId)
      .map(({ event }) => event);
  }
  async function mails(): Promise<string[]> {
    await eventually('the queue is empty', async () => {
      const { rows } = await issued.app.db.owner.query('SELECT id FROM mails');
      return rows.length === 0;
    });
    return catcher.caught.filter(({ to }) => to.includes(member.email)).map(mailTextOf);
  }

  async function confirmAuthenticator() {
    const { secret } = (await post('/authenticator')).json;
    const code = hotp(bytesOfBase32(secret), Math.floor(issued.clock.nowMs() / TOTP_STEP_MS));
    return post('/authenticator/confirm', { code });
  }
  async function addPasskey() {
    const { json } = await post('/passkeys/options');
    const answer = new SoftwareAuthenticator(`http://localhost:${issued.app.port}`).create(json);
    return post('/passkeys', { name: 'Key', answer });
  }

  interface Act {
    readonly act: () => Promise<{ readonly status: number }>;
    readonly status: number;
    readonly event: string;
    /** A sentence of the mail; none for what is not told. */
    readonly mail?: RegExp;
  }
  /** In this order: each needs what the ones before have done. */
  const ACTS: Readonly<Record<string, Act>> = {
    'a wrong password': { act: () => signIn('wrong'), status: 401, event: 'sign_in_failed' },
    'a sign-in': {
      ...{ act: () => signIn(PASSWORD), status: 200, event: 'signed_in' },
      mail: /from a device that was not used before/,
    },
    'a step-up': { act: () => post('/step-up', { password: PASSWORD }), status: 200, event: 'stepped_up' },
    'a new password': {
      act: () => post('/password', { current_password: PASSWORD, new_password: NEW_PASSWORD }),
      ...{ status: 200, event: 'password_changed', mail: /The password of your account was changed/ },
    },
    'a new authenticator': {
      act: confirmAuthenticator,
      ...{ status: 200, event: 'authenticator_added', mail: /An authenticator was added/ },
    },
    'new recovery codes': {
      act: () => post('/recovery-codes'),
      ...{ status: 200, event: 'recovery_codes_made', mail: /New recovery codes were made/ },
    },
    'an authenticator that is removed': {
      act: () => browser.call('DELETE', '/portal/api/authenticator'),
      ...{ status: 204, event: 'authenticator_removed', mail: /The authenticator was removed/ },
    },
    'a new passkey': {
      ...{ act: addPasskey, status: 200, event: 'passkey_added', mail: /A passkey was added/ },
    },
    'a passkey that is removed': {
      act: async () => browser.call('DELETE', `/portal/api/passkeys/${(await factors()).passkeys[0].id}`),
      ...{ status: 204, event: 'passkey_removed', mail: /A passkey was removed/ },
    },
    'an identity that is linked': {
      act: async () => {
        const location = await issued.link({ ...member, browser }, 'a', randomUUID());
        return { status: location === '/portal/account#oidc-linked' ? 303 : 0 };
      },
      ...{ status: 303, event: 'identity_linked', mail: /another provider was linked/ },
    },
    'an identity that is unlinked': {
      act: async () => browser.call('DELETE', `${IDENTITIES}/${(await factors()).identities[0].id}`),
      ...{ status: 204, event: 'identity_unlinked', mail: /another provider was taken away/ },
    },
    'a sign-out': { act: () => post('/sign-out'), status: 204, event: 'signed_out' },
  };

  for (const [what, { act, status, event, mail }] of Object.entries(ACTS)) {
    it(`${what} is one line of the security log${mail ? ', and the user is told by mail' : ', and no mail'}`, async () => {
      const before = { events: events().length, mails: (await mails()).length };
      assert.equal((await act()).status, status);
      assert.deepEqual(events().slice(before.events), [event]);
      const told = (await mails()).slice(before.mails);
      assert.equal(told.length, mail ? 1 : 0);
      if (mail) assert.match(told[0] ?? '', mail);
    });
  }
});
