import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createMailSeal } from '../../mail/content.js';
import { offerMail } from '../../mail/outbox.js';
import { createLinks } from '../../people/links/links.js';
import { createNotices } from '../../people/notices/notices.js';
import type { UserAdministration } from '../../people/users/administration.js';
import { createUserAdministration } from '../../people/users/administration.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import type { MailedApp } from './mailbox-fixture.js';
import { secretIn, startMailedApp } from './mailbox-fixture.js';
import type { Person } from './portal-fixture.js';
import { makePerson, openBrowser } from './portal-fixture.js';

describe('what the operator takes from a user', () => {
  let mailed: MailedApp;
  let app: TestApp;
  let tenant: TestTenant;
  let users: UserAdministration;
  before(async () => {
    mailed = await startMailedApp();
    app = mailed.app;
    tenant = await app.makeTenant('Ours');
    const { clock } = mailed;
    const { systemKeys: keys } = app.keyStore;
    const rowMacKey = keys.rowMac;
    const outbox = { seal: createMailSeal(rowMacKey), clock };
    const notices = createNotices({
      mail: { offer: (tx, mail) => offerMail(outbox, tx, mail), pretend: async () => {}, wake: () => {} },
      portalUrl: () => app.baseUrl,
      ...{ clock, rowMacKey, security: { onNoticeDropped: () => assert.fail('there is a place in the queue') } },
    });
    const links = createLinks({ clock, keys });
    users = createUserAdministration({ database: app.database, clock, links, rowMacKey, notices });
  });
  after(() => mailed.close());

  const rowOf = ({ userId, email }: Person) => ({
    id: userId,
    email,
    first_name: null,
    last_name: null,
    picture: null,
  });

  async function identitiesOf({ userId }: Person): Promise<number> {
    const { rows } = await app.db.owner.query('SELECT id FROM user_identities WHERE user_id = $1', [userId]);
    return rows.length;
  }

  for (const withSecondFactors of [false, true]) {
    it(`tells the user by mail, and ${withSecondFactors ? 'removes' : 'leaves'} linked identities`, async () => {
      const person = await makePerson(app, tenant.id, 'ADMIN');
      await app.db.owner.query(
        `INSERT INTO user_identities (id, user_id, issuer, subject, mac, created_at)
         VALUES (gen_random_uuid(), $1::uuid, 'https://issuer.example', $1::uuid::text, '\\x01', now())`,
        [person.userId],
      );
      await users.resetPassword(rowOf(person), { withSecondFactors });
      assert.equal(await identitiesOf(person), withSecondFactors ? 0 : 1);
      // The first one was about the browser.
      const mails = await mailed.mailsTo(person.email, 2);
      const words = withSecondFactors ? /removed its authenticator/ : /forgotten, and ended every session/;
      assert.match(mails.at(-1) ?? '', words);
    });
  }

  for (const act of ['reset', 'disable'] as const) {
    it(`404 for links of a change of the address from before a ${act}`, async () => {
      const person = await makePerson(app, tenant.id, 'ADMIN');
      const next = `next-${person.email}`;
      assert.equal((await person.browser.call('POST', '/portal/api/email', { email: next })).status, 202);
      const secrets = [await mailed.mailsTo(person.email, 2), await mailed.mailsTo(next, 1)].map((mails) =>
        secretIn(mails, 'confirm-email'),
      );
      if (act === 'reset') await users.resetPassword(rowOf(person), { withSecondFactors: false });
      else assert.deepEqual([await users.disable(person.userId), await users.enable(person.userId)], [true, true]);
      for (const secret of secrets) {
        assert.equal((await openBrowser(app).call('POST', '/portal/api/email/confirm', { secret })).status, 404);
      }
    });
  }
});
