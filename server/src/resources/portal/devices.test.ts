import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { DEVICES_OF_USER_MAX } from '../../people/devices/devices.js';
import { peopleJobs } from '../../people/jobs.js';
import type { TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { makeMember } from '../members/member-fixture.js';
import type { MailedApp } from './mailbox-fixture.js';
import { startMailedApp } from './mailbox-fixture.js';
import type { Browser } from './portal-fixture.js';
import { givePassword, makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const DAY_MS = 24 * 3_600_000;
const NEWS = /from a device that was not used before/;

describe('the browsers of a user', () => {
  let mailed: MailedApp;
  let tenant: TestTenant;
  before(async () => {
    mailed = await startMailedApp();
    tenant = await mailed.app.makeTenant('Ours');
  });
  after(() => mailed.close());

  const someone = async () => {
    const member = await makeMember(mailed.app, tenant.id, 'ADMIN');
    await givePassword(mailed.app, member.userId);
    return member;
  };
  const signIn = async (browser: Browser, email: string) => {
    const answer = await browser.call(
      'POST',
      '/portal/api/sign-in',
      { email, password: PASSWORD },
      { 'User-Agent': 'Ours/1' },
    );
    assert.equal(answer.status, 200);
    return answer;
  };
  const rowsOf = async (userId: string) =>
    (await mailed.app.db.owner.query('SELECT hash FROM user_devices WHERE user_id = $1', [userId])).rows;

  it('one that is new is marked by a cookie for this host alone, and told by mail with address and browser', async () => {
    const { email, userId } = await someone();
    const browser = openBrowser(mailed.app);
    const { headers } = await signIn(browser, email);
    const [session = '', device = '', ...more] = headers.getSetCookie();
    assert.match(session, /^__Host-strongroom_session=/);
    assert.match(
      device,
      /^__Host-strongroom_device=[0-9A-Za-z]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=34560000$/,
    );
    assert.deepEqual(more, []);
    const [mail = ''] = await mailed.mailsTo(email, 1);
    assert.match(mail, NEWS);
    for (const word of ['127.0.0.1', 'Ours/1', '/portal/account/sessions']) assert.ok(mail.includes(word), word);
    const secret = browser.device.slice(browser.device.indexOf('=') + 1);
    for (const text of [JSON.stringify(await rowsOf(userId)), mailed.app.logLines.join(''), mail]) {
      assert.equal(text.includes(secret), false);
    }
  });

  it('one that is known is not told again, also after signing out; its cookie is made anew for as long', async () => {
    const { email, userId } = await someone();
    const browser = openBrowser(mailed.app);
    await signIn(browser, email);
    const mark = browser.device;
    await browser.call('POST', '/portal/api/sign-out');
    const { headers } = await signIn(browser, email);
    assert.equal(headers.getSetCookie().length, 2);
    assert.equal(browser.device, mark);
    await mailed.mailsTo(email, 1);
    assert.equal((await rowsOf(userId)).length, 1);
  });

  it('another one is told, and so is one that others use for the first time; each user is told once', async () => {
    const [ann, bob] = [await someone(), await someone()];
    const shared = openBrowser(mailed.app);
    for (const { email } of [ann, bob, ann, bob]) await signIn(shared, email);
    await mailed.mailsTo(ann.email, 1);
    await mailed.mailsTo(bob.email, 1);
    await signIn(openBrowser(mailed.app), ann.email);
    await mailed.mailsTo(ann.email, 2);
  });

  it('the mark alone opens nothing, nonsense is replaced, and a row copied to another user makes nothing known', async () => {
    const [ann, bob] = [await someone(), await someone()];
    const browser = openBrowser(mailed.app);
    await signIn(browser, ann.email);
    browser.cookie = '';
    assert.equal((await browser.call('GET', '/portal/api/me')).status, 401);
    await mailed.app.db.owner.query(
      'INSERT INTO user_devices (user_id, hash, seen_at) SELECT $2, hash, seen_at FROM user_devices WHERE user_id = $1',
      [ann.userId, bob.userId],
    );
    await signIn(browser, bob.email);
    assert.match((await mailed.mailsTo(bob.email, 1))[0] ?? '', NEWS);
    const odd = openBrowser(mailed.app);
    odd.device = '__Host-strongroom_device=x';
    await signIn(odd, ann.email);
    assert.match(odd.device, /=[0-9A-Za-z]{43}$/);
  });

  it('a failed sign-in neither tells nor marks', async () => {
    const { email, userId } = await someone();
    const { status, headers } = await openBrowser(mailed.app).call('POST', '/portal/api/sign-in', {
      email,
      password: 'x',
    });
    assert.deepEqual([status, headers.getSetCookie()], [401, []]);
    await mailed.mailsTo(email, 0);
    assert.deepEqual(await rowsOf(userId), []);
  });

  it('a step-up and a new password tell of none and make none known: a stolen session cannot do so unnoticed', async () => {
    const { browser, email, userId } = await makePerson(mailed.app, tenant.id, 'ADMIN');
    await mailed.mailsTo(email, 1);
    const thief = openBrowser(mailed.app);
    thief.cookie = browser.cookie;
    assert.equal((await thief.call('POST', '/portal/api/step-up', { password: PASSWORD })).status, 200);
    const change = { current_password: PASSWORD, new_password: 'another long passphrase 42 times' };
    assert.equal((await thief.call('POST', '/portal/api/password', change)).status, 200);
    assert.equal(thief.device, '');
    assert.equal((await rowsOf(userId)).length, 1);
    assert.doesNotMatch((await mailed.mailsTo(email, 2))[1] ?? '', NEWS);
  });

  it('the first one of a new account is no news', async () => {
    const email = `${randomUUID()}@example.com`;
    await mailed.app.call('POST', '/tenants/self/invitations', { key: tenant.key, body: { email } });
    const [invitation = ''] = await mailed.mailsTo(email, 1);
    const [, secret] = /accept#([0-9A-Za-z]{43})/.exec(invitation) ?? [];
    const browser = openBrowser(mailed.app);
    const register = { secret, password: PASSWORD };
    assert.equal((await browser.call('POST', '/portal/api/invitations/register', register)).status, 200);
    assert.notEqual(browser.device, '');
    await signIn(browser, email);
    await mailed.mailsTo(email, 1);
    const forgotten = await browser.call('POST', '/portal/api/password/forgotten', { email });
    assert.equal(forgotten.status, 202);
    await mailed.mailsTo(email, 2);
  });

  it('only so many are known, and none after 400 days without a sign-in', async () => {
    const { email, userId } = await someone();
    const first = openBrowser(mailed.app);
    await signIn(first, email);
    await mailed.app.db.owner.query(
      `INSERT INTO user_devices (user_id, hash, seen_at)
       SELECT $1, sha256(n::text::bytea), $3::timestamptz + n * interval '1 second' FROM generate_series(1, $2::integer) AS n`,
      [userId, DEVICES_OF_USER_MAX - 1, new Date(mailed.clock.nowMs())],
    );
    assert.equal((await rowsOf(userId)).length, DEVICES_OF_USER_MAX);
    await mailed.pass(3_600_000);
    const second = openBrowser(mailed.app);
    await signIn(second, email);
    assert.equal((await rowsOf(userId)).length, DEVICES_OF_USER_MAX);
    await mailed.mailsTo(email, 2);
    await signIn(first, email);
    await mailed.mailsTo(email, 3);
    const [job] = peopleJobs(mailed.app.database);
    await job?.step(mailed.clock.nowMs() + 400 * DAY_MS - 1);
    const isLeft = (await rowsOf(userId)).length;
    await job?.step(mailed.clock.nowMs() + 400 * DAY_MS);
    assert.deepEqual([isLeft > 0, (await rowsOf(userId)).length], [true, 0]);
  });

  it('are marked without a server for mail as well', async () => {
    const bare = await startTestApp();
    try {
      const { browser } = await makePerson(bare, (await bare.makeTenant()).id, 'ADMIN');
      assert.match(browser.device, /=[0-9A-Za-z]{43}$/);
    } finally {
      await bare.close();
    }
  });
});
