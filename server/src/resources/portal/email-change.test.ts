import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeMember } from '../members/member-fixture.js';
import type { MailedApp } from './mailbox-fixture.js';
import { secretIn, startMailedApp } from './mailbox-fixture.js';
import type { Browser, Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const EMAIL = '/portal/api/email';
const CONFIRM = '/portal/api/email/confirm';
const PAGE = 'confirm-email';
const newAddress = () => `new-${randomUUID()}@example.com`;

describe('a change of an address', () => {
  let mailed: MailedApp;
  let tenant: TestTenant;
  before(async () => {
    mailed = await startMailedApp();
    tenant = await mailed.app.makeTenant('Ours');
  });
  after(() => mailed.close());

  /** What this client asked for before is forgotten by then. */
  const person = async () => {
    await mailed.pass(24 * HOUR_MS);
    return makePerson(mailed.app, tenant.id, 'ADMIN');
  };
  const ask = async (browser: Browser, email: string) => (await browser.call('POST', EMAIL, { email })).status;
  const confirm = async (secret: string) => {
    const { status, json } = await openBrowser(mailed.app).call('POST', CONFIRM, { secret });
    return status === 200 ? json.is_changed : status;
  };
  const me = async (browser: Browser) => (await browser.call('GET', '/portal/api/me')).json;
  /** Asks for it, and the secrets of both links. The first mail to a person is about its sign-in. */
  const asked = async ({ browser, email }: Person, to: string, count = 1) => {
    assert.equal(await ask(browser, to), 202);
    const atOld = secretIn(await mailed.mailsTo(email, 1 + count), PAGE);
    return { atOld, atNew: secretIn(await mailed.mailsTo(to, 1), PAGE) };
  };
  const linesOf = (event: string, userId: string) =>
    mailed.app.logLines.filter((line) => line.includes(`"${event}"`) && line.includes(userId)).length;

  it('is done once both addresses confirmed, whichever is first; the old one hears of it, sessions stay', async () => {
    for (const order of [
      ['atOld', 'atNew'],
      ['atNew', 'atOld'],
    ] as const) {
      const someone = await person();
      const to = newAddress();
      const secrets = await asked(someone, to);
      assert.notEqual(secrets.atOld, secrets.atNew);
      assert.equal((await me(someone.browser)).pending_email, to);
      assert.equal(await confirm(secrets[order[0]]), false);
      const between = await me(someone.browser);
      assert.deepEqual([between.user.email, between.pending_email], [someone.email, to]);
      assert.equal(await confirm(secrets[order[0]]), 404, 'each link works once');
      assert.equal(await confirm(secrets[order[1]]), true);
      const done = await me(someone.browser);
      assert.deepEqual([done.user.email, done.pending_email], [to, undefined]);
      assert.match((await mailed.mailsTo(someone.email, 3))[2] ?? '', /The address of your account was changed/);
      await mailed.mailsTo(to, 1);
      const signIn = async (email: string) =>
        (await someone.browser.call('POST', '/portal/api/sign-in', { email, password: PASSWORD })).status;
      assert.deepEqual([await signIn(someone.email), await signIn(to)], [401, 200]);
      for (const secret of Object.values(secrets)) assert.equal(await confirm(secret), 404);
      assert.deepEqual(
        [linesOf('email_change_asked', someone.userId), linesOf('email_changed', someone.userId)],
        [1, 1],
      );
      const told = mailed.app.logLines.join('');
      for (const word of [secrets.atOld, secrets.atNew, to]) assert.equal(told.includes(word), false);
    }
  });

  it('mails have the address of the Portal, and only the old one says which address is new', async () => {
    const someone = await person();
    const to = newAddress();
    await asked(someone, to);
    const [, atOld = ''] = await mailed.mailsTo(someone.email, 2);
    const [atNew = ''] = await mailed.mailsTo(to, 1);
    for (const text of [atOld, atNew]) assert.ok(text.includes(`http://localhost:${mailed.app.port}/portal/${PAGE}#`));
    assert.equal(atNew.includes(someone.email), false);
    assert.ok(atOld.includes(to));
  });

  it('a new address can be written to at once: a forgotten password goes there, and links to the old one are dead', async () => {
    const someone = await person();
    const to = newAddress();
    const { atOld, atNew } = await asked(someone, to);
    await openBrowser(mailed.app).call('POST', '/portal/api/password/forgotten', { email: someone.email });
    const stale = secretIn(await mailed.mailsTo(someone.email, 3), 'reset-password');
    assert.deepEqual([await confirm(atOld), await confirm(atNew)], [false, true]);
    const reset = { secret: stale, password: 'another long passphrase 42 times' };
    assert.equal((await openBrowser(mailed.app).call('POST', '/portal/api/password/reset', reset)).status, 404);
    await openBrowser(mailed.app).call('POST', '/portal/api/password/forgotten', { email: to });
    secretIn(await mailed.mailsTo(to, 2), 'reset-password');
  });

  it('202 for the address of another user as for any; once both confirmed it is 422, and nothing changed', async () => {
    const someone = await person();
    const other = await makeMember(mailed.app, tenant.id, 'ADMIN');
    const free = await someone.browser.call('POST', EMAIL, { email: newAddress() });
    const taken = await someone.browser.call('POST', EMAIL, { email: other.email.toUpperCase() });
    const shown = ({ status, text, headers }: typeof free) => [status, text, [...headers.keys()].sort()];
    assert.deepEqual(shown(taken), shown(free));
    assert.equal(taken.status, 202);
    const atOld = secretIn(await mailed.mailsTo(someone.email, 3), PAGE);
    const atNew = secretIn(await mailed.mailsTo(other.email.toUpperCase(), 1), PAGE);
    assert.equal(await confirm(atOld), false);
    const { status, json } = await openBrowser(mailed.app).call('POST', CONFIRM, { secret: atNew });
    assert.deepEqual([status, json.errors], [422, { email: ['belongs to another user'] }]);
    const after = await me(someone.browser);
    assert.deepEqual([after.user.email, after.pending_email], [someone.email, undefined]);
    assert.equal(await confirm(atNew), 404);
    await mailed.mailsTo(someone.email, 3);
  });

  it('404 for a guess, after 24 hours, for what a newer one replaced, and for links of other purposes', async () => {
    const someone = await person();
    const replaced = await asked(someone, newAddress());
    const live = await asked(someone, newAddress(), 2);
    const { json } = await mailed.app.call('POST', '/tenants/self/invitations', {
      key: tenant.key,
      body: { email: newAddress() },
    });
    assert.ok(json.id);
    await openBrowser(mailed.app).call('POST', '/portal/api/password/forgotten', { email: someone.email });
    const forgotten = secretIn(await mailed.mailsTo(someone.email, 4), 'reset-password');
    for (const secret of ['A'.repeat(43), 'x', replaced.atOld, replaced.atNew, forgotten]) {
      assert.equal(await confirm(secret), 404, secret);
    }
    const reset = { secret: live.atOld, password: 'another long passphrase 42 times' };
    assert.equal((await openBrowser(mailed.app).call('POST', '/portal/api/password/reset', reset)).status, 404);
    await mailed.pass(24 * HOUR_MS - 1);
    assert.equal(await confirm(live.atOld), false);
    await mailed.pass(1);
    assert.equal(await confirm(live.atNew), 404);
  });

  it('of two confirmations of one side at the same time one counts, and of both sides one changes the address', async () => {
    const someone = await person();
    const { atOld, atNew } = await asked(someone, newAddress());
    const same = await Promise.all([confirm(atOld), confirm(atOld)]);
    assert.deepEqual(new Set(same), new Set([false, 404]));
    assert.equal(await confirm(atNew), true);
    const again = await person();
    const both = await asked(again, newAddress());
    const answers = await Promise.all([confirm(both.atOld), confirm(both.atNew)]);
    assert.deepEqual(new Set(answers), new Set([false, true]));
  });

  it('a row that was edited confirms nothing and gives nobody an address', async () => {
    const { owner } = mailed.app.db;
    const edits = [
      'UPDATE email_changes SET old_hash = NULL WHERE user_id = $1',
      `UPDATE email_changes SET email = 'evil@example.com' WHERE user_id = $1`,
      `UPDATE email_changes SET expires_at = '2200-01-01' WHERE user_id = $1`,
      `UPDATE email_changes SET user_id = (SELECT id FROM users WHERE id <> $1 AND email IS NOT NULL
         AND id NOT IN (SELECT user_id FROM email_changes) LIMIT 1) WHERE user_id = $1`,
    ];
    for (const edit of edits) {
      const someone = await person();
      const { atNew } = await asked(someone, newAddress());
      await owner.query(edit, [someone.userId]);
      assert.equal(await confirm(atNew), 404, edit);
      const shown = await me(someone.browser);
      assert.deepEqual([shown.user.email, shown.pending_email], [someone.email, undefined], edit);
    }
    assert.ok(mailed.app.logLines.some((line) => line.includes('a stored sign-in was altered')));
    const edited = await person();
    await owner.query(`UPDATE users SET email = 'evil@example.com' WHERE id = $1`, [edited.userId]);
    assert.equal(await ask(edited.browser, newAddress()), 503);
    await mailed.mailsTo('evil@example.com', 0);
  });

  it('dies with a new password, when the user is locked out, and when the address was changed otherwise', async () => {
    const someone = await person();
    const { atOld } = await asked(someone, newAddress());
    const change = { current_password: PASSWORD, new_password: 'another long passphrase 42 times' };
    assert.equal((await someone.browser.call('POST', '/portal/api/password', change)).status, 200);
    assert.equal((await me(someone.browser)).pending_email, undefined);
    assert.equal(await confirm(atOld), 404);
    for (const edit of ['disabled_at = now()', `email = 'moved@example.com'`]) {
      const other = await person();
      const secrets = await asked(other, newAddress());
      await mailed.app.db.owner.query(`UPDATE users SET ${edit} WHERE id = $1`, [other.userId]);
      assert.equal(await confirm(secrets.atNew), 404, edit);
    }
  });

  it('a reset password kills it as well', async () => {
    const someone = await person();
    const { atOld, atNew } = await asked(someone, newAddress());
    await openBrowser(mailed.app).call('POST', '/portal/api/password/forgotten', { email: someone.email });
    const secret = secretIn(await mailed.mailsTo(someone.email, 3), 'reset-password');
    const reset = { secret, password: 'another long passphrase 42 times' };
    assert.equal((await openBrowser(mailed.app).call('POST', '/portal/api/password/reset', reset)).status, 204);
    assert.deepEqual([await confirm(atOld), await confirm(atNew)], [404, 404]);
  });

  it('a user without an address confirms the new one alone', async () => {
    const someone = await person();
    const to = newAddress();
    await mailed.app.db.owner.query('UPDATE users SET email = NULL, email_key = NULL, email_mac = NULL WHERE id = $1', [
      someone.userId,
    ]);
    assert.equal(await ask(someone.browser, to), 202);
    assert.equal(await confirm(secretIn(await mailed.mailsTo(to, 1), PAGE)), true);
    assert.equal((await me(someone.browser)).user.email, to);
  });

  it('401 without a session, 403 once the sign-in is 10 minutes old and without the origin of the Portal, 400 for nonsense', async () => {
    const { browser, email } = await person();
    const body = { email: newAddress() };
    assert.equal((await openBrowser(mailed.app).call('POST', EMAIL, body)).status, 401);
    for (const path of [EMAIL, CONFIRM]) {
      const evil = { Origin: 'https://evil.example' };
      assert.equal((await browser.call('POST', path, body, evil)).json.code, 'cross_site_refused');
    }
    for (const wrong of ['nonsense', `${'a'.repeat(65)}@example.com`, email]) {
      const { status, json } = await browser.call('POST', EMAIL, { email: wrong });
      assert.deepEqual([status, Object.keys(json.errors)], [400, ['email']], wrong);
    }
    await mailed.pass(10 * MINUTE_MS);
    assert.equal((await browser.call('POST', EMAIL, body)).json.code, 'step_up_required');
    await mailed.mailsTo(body.email, 0);
  });

  it('429 for the fifth in a row, and its mails are not sent', async () => {
    const someone = await person();
    for (let n = 1; n <= 4; n += 1) assert.equal(await ask(someone.browser, newAddress()), 202);
    const to = newAddress();
    const { status, headers } = await someone.browser.call('POST', EMAIL, { email: to });
    assert.deepEqual([status, headers.get('retry-after')], [429, '60']);
    await mailed.mailsTo(to, 0);
    await mailed.pass(MINUTE_MS);
    assert.equal(await ask(someone.browser, to), 202);
    await mailed.mailsTo(to, 1);
  });

  it('503 while the queue is full, and the change of before is still there', async () => {
    const someone = await person();
    const to = newAddress();
    const { atOld } = await asked(someone, to);
    await mailed.app.db.owner.query(
      `INSERT INTO mails (id, due_at, attempts, created_at, sealed)
       SELECT gen_random_uuid(), '2200-01-01', 0, now(), '' FROM generate_series(1, 10000)`,
    );
    assert.equal(await ask(someone.browser, newAddress()), 503);
    await mailed.app.db.owner.query(`DELETE FROM mails WHERE due_at > '2100-01-01'`);
    assert.equal((await me(someone.browser)).pending_email, to);
    assert.equal(await confirm(atOld), false);
  });

  it('422 without a server for mail, with what to do', async () => {
    const bare = await startTestApp();
    try {
      const { browser } = await makePerson(bare, (await bare.makeTenant()).id, 'ADMIN');
      const { status, json } = await browser.call('POST', EMAIL, { email: newAddress() });
      assert.equal(status, 422);
      assert.match(json.errors.email[0], /ask the operator/);
    } finally {
      await bare.close();
    }
  });
});
