import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { createPasswordHasher } from '../../crypto/password-hash.js';
import { createMailSeal } from '../../mail/content.js';
import { offerMail } from '../../mail/outbox.js';
import { createOidc } from '../../people/oidc/oidc.js';
import type { People } from '../../people/people.js';
import { createPeople } from '../../people/people.js';
import type { Database } from '../../storage/database.js';
import type { TestTenant } from '../../testing/test-app.js';
import { startTestApp, TEST_PASSWORD_COST } from '../../testing/test-app.js';
import { makeMember } from '../members/member-fixture.js';
import type { MailedApp } from './mailbox-fixture.js';
import { secretIn, startMailedApp } from './mailbox-fixture.js';
import { givePassword, makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FORGOTTEN = '/portal/api/password/forgotten';
const RESET = '/portal/api/password/reset';
const NEW_PASSWORD = 'another long passphrase 42 times';

describe('a forgotten password', () => {
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
  const ask = (email: string) => openBrowser(mailed.app).call('POST', FORGOTTEN, { email });
  const reset = async (secret: string, password = NEW_PASSWORD) =>
    (await openBrowser(mailed.app).call('POST', RESET, { secret, password })).status;
  const signIn = async (email: string, password: string) =>
    (await openBrowser(mailed.app).call('POST', '/portal/api/sign-in', { email, password })).status;
  const linkFor = async (email: string, mails = 1) => {
    // What this address asked for before is forgotten by then.
    await mailed.pass(24 * HOUR_MS);
    assert.equal((await ask(email)).status, 202);
    return secretIn(await mailed.mailsTo(email, mails), 'reset-password');
  };
  const linesOf = (event: string, userId: string) =>
    mailed.app.logLines.filter((line) => line.includes(`"${event}"`) && line.includes(userId));

  it('202 and a link to the Portal at the address that is stored, however it was typed; no log has the secret', async () => {
    const { email, userId } = await someone();
    const { status, text } = await ask(email.toUpperCase());
    assert.deepEqual([status, text], [202, '']);
    const mails = await mailed.mailsTo(email, 1);
    assert.ok(mails[0]?.includes(`http://localhost:${mailed.app.port}/portal/reset-password#`));
    const secret = secretIn(mails, 'reset-password');
    assert.equal(linesOf('password_forgotten', userId).length, 1);
    const { rows } = await mailed.app.db.owner.query('SELECT * FROM user_links');
    for (const text of [mailed.app.logLines.join(''), JSON.stringify(rows)]) {
      assert.equal(text.includes(secret) || text.includes(email), false);
    }
  });

  it('202 in the same words to an unknown user, a user locked out, one whose row was edited, and nonsense; no mail', async () => {
    const { email } = await someone();
    const locked = await someone();
    await mailed.app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [locked.userId]);
    const edited = await someone();
    const evil = `evil-${randomUUID()}@example.com`;
    await mailed.app.db.owner.query('UPDATE users SET email = $2, email_key = $2 WHERE id = $1', [edited.userId, evil]);
    const answers = [];
    for (const address of [email, `${randomUUID()}@example.com`, locked.email, evil, 'no address']) {
      const { status, text, headers } = await ask(address);
      const names = [...headers.keys()].filter((name) => !['date', 'svc-trace-id'].includes(name)).sort();
      answers.push(JSON.stringify([status, text, names, headers.get('content-length')]));
    }
    assert.equal(new Set(answers).size, 1, answers.join('\n'));
    await mailed.mailsTo(email, 1);
    for (const address of [locked.email, evil, edited.email, 'nobody@example.com']) await mailed.mailsTo(address, 0);
    assert.equal(linesOf('integrity_fault', edited.userId).length, 1);
  });

  it('the database is asked the same for a user and for nobody, and the mail leaves after the commit', async () => {
    const { email } = await someone();
    const locked = await someone();
    await mailed.app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [locked.userId]);
    const asked: string[][] = [];
    for (const address of [email, `${randomUUID()}@example.com`, locked.email]) {
      const watched = peopleWatched(mailed);
      await watched.people.wayBack.forgotten(address, { address: '192.0.2.9', agent: undefined, limitKey: address });
      asked.push(watched.seen);
    }
    assert.deepEqual(asked[1], asked[0]);
    assert.deepEqual(asked[2], asked[0]);
    assert.deepEqual(asked[0]?.slice(-4), ['replace_user_links', 'insert_user_link', 'insert_mail', 'wake']);
  });

  it('one mail, then the next after 1, 2, 4 … minutes up to an hour; who keeps asking does not lengthen the wait', async () => {
    const { email } = await someone();
    await mailed.pass(24 * HOUR_MS);
    for (let n = 0; n < 5; n += 1) assert.equal((await ask(email)).status, 202);
    await mailed.mailsTo(email, 1);
    let count = 1;
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      await mailed.pass(minutes * MINUTE_MS - 1);
      await ask(email);
      await mailed.mailsTo(email, count);
      await mailed.pass(1);
      await ask(email);
      count += 1;
      await mailed.mailsTo(email, count);
    }
    // Nobody's sign-in waits for that.
    assert.equal(await signIn(email, PASSWORD), 200);
  });

  it('requests at the same time send one mail', async () => {
    const { email } = await someone();
    await mailed.pass(24 * HOUR_MS);
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(email)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([202]));
    await mailed.mailsTo(email, 1);
  });

  it('one client has so many mails sent to as many users, then waits', async () => {
    await mailed.pass(24 * HOUR_MS);
    for (let n = 0; n < 21; n += 1) await ask(`${randomUUID()}@example.com`);
    const { email } = await someone();
    const rows = async () => (await mailed.app.db.owner.query('SELECT name FROM sign_in_failures')).rows.length;
    const counted = await rows();
    assert.equal((await ask(email)).status, 202);
    assert.equal(await rows(), counted, 'who has to wait fills no table');
    await mailed.mailsTo(email, 0);
    await mailed.pass(1_000);
    await ask(email);
    await mailed.mailsTo(email, 1);
  });

  it('403 without the origin of the Portal, and no mail; 400 without an address', async () => {
    const { email } = await someone();
    for (const [path, body] of [
      [FORGOTTEN, { email }],
      [RESET, { secret: 'A'.repeat(43), password: NEW_PASSWORD }],
    ] as const) {
      assert.equal((await mailed.app.call('POST', path, { body })).json.code, 'cross_site_refused');
      const headers = { Origin: 'https://evil.example' };
      assert.equal((await openBrowser(mailed.app).call('POST', path, body, headers)).status, 403);
    }
    await mailed.mailsTo(email, 0);
    assert.equal((await openBrowser(mailed.app).call('POST', FORGOTTEN, {})).status, 400);
  });

  describe('the link', () => {
    it('204 sets the password without a session; the old one and every session end, the user is told', async () => {
      await mailed.pass(24 * HOUR_MS);
      const { browser, email, userId } = await makePerson(mailed.app, tenant.id, 'ADMIN');
      await ask(email);
      const secret = secretIn(await mailed.mailsTo(email, 2), 'reset-password');
      const answer = await openBrowser(mailed.app).call('POST', RESET, { secret, password: NEW_PASSWORD });
      assert.deepEqual([answer.status, answer.headers.getSetCookie()], [204, []]);
      assert.equal((await browser.call('GET', '/portal/api/me')).status, 401);
      assert.deepEqual([await signIn(email, PASSWORD), await signIn(email, NEW_PASSWORD)], [401, 200]);
      const mails = await mailed.mailsTo(email, 4);
      assert.ok(mails.some((text) => text.includes('was set anew by a link')));
      assert.equal(linesOf('password_reset', userId).length, 1);
      assert.equal(mailed.app.logLines.join('').includes(NEW_PASSWORD), false);
    });

    it('404 the second time, for a guess, for one that was replaced, and after an hour; the password stays', async () => {
      const { email } = await someone();
      const used = await linkFor(email);
      assert.deepEqual([await reset(used), await reset(used)], [204, 404]);
      const replaced = await linkFor(email, 3);
      const newest = await linkFor(email, 4);
      for (const secret of ['A'.repeat(43), 'x', replaced]) assert.equal(await reset(secret, PASSWORD), 404, secret);
      await mailed.pass(HOUR_MS - 1);
      assert.equal(await reset(newest, 'short'), 400);
      await mailed.pass(1);
      assert.equal(await reset(newest, PASSWORD), 404);
      assert.equal(await signIn(email, NEW_PASSWORD), 200);
    });

    it('of two at the same time one gets 204', async () => {
      const { email } = await someone();
      const secret = await linkFor(email);
      const answers = await Promise.all([reset(secret), reset(secret)]);
      assert.deepEqual(answers.sort(), [204, 404]);
    });

    it('404 for a link of another purpose, one moved to another user, and one of a user locked out since', async () => {
      const { email, userId } = await someone();
      const { userId: victim, email: victimEmail } = await someone();
      const secret = await linkFor(email);
      const { owner } = mailed.app.db;
      await owner.query('UPDATE user_links SET user_id = $1 WHERE user_id = $2', [victim, userId]);
      assert.equal(await reset(secret), 404);
      await owner.query('UPDATE user_links SET user_id = $2 WHERE user_id = $1', [victim, userId]);
      await owner.query(`UPDATE user_links SET purpose = 'set-up' WHERE user_id = $1`, [userId]);
      const setUp = { secret, email: 'x@example.com', password: NEW_PASSWORD };
      assert.equal((await openBrowser(mailed.app).call('POST', '/portal/api/set-up', setUp)).status, 404);
      assert.equal(await reset(secret), 404);
      await owner.query(`UPDATE user_links SET purpose = 'password-reset-by-mail' WHERE user_id = $1`, [userId]);
      await owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
      assert.equal(await reset(secret), 404);
      assert.equal(await signIn(victimEmail, PASSWORD), 200);
    });

    it('ends the wait after failed sign-ins of this account, and the wait for the next mail', async () => {
      const { email } = await someone();
      const secret = await linkFor(email);
      for (let n = 0; n < 6; n += 1) await signIn(email, 'wrong');
      assert.equal(await signIn(email, PASSWORD), 429);
      assert.equal(await reset(secret), 204);
      assert.equal(await signIn(email, NEW_PASSWORD), 200);
      await ask(email);
      assert.equal((await mailed.mailsTo(email, 4)).filter((text) => text.includes('reset-password#')).length, 2);
    });

    it('of the operator works as well, is not killed by a mail, and dies with every other one once one is used', async () => {
      const { email, userId } = await someone();
      const { people } = peopleWatched(mailed);
      const make = () =>
        mailed.app.database.people((tx) => people.links.make(tx, userId, 'password-reset', 72 * HOUR_MS));
      const first = (await make()).reveal();
      const byMail = await linkFor(email);
      assert.equal(await reset(first), 204);
      assert.equal(await reset(byMail), 404);
      const late = (await make()).reveal();
      await mailed.pass(72 * HOUR_MS - 1);
      assert.equal(await reset(late, PASSWORD), 204);
    });
  });

  it('a full queue is answered alike, stops no new password, and is told to the operator', async () => {
    const { email, userId } = await someone();
    await linkFor(email);
    await mailed.pass(MINUTE_MS);
    await mailed.app.db.owner.query(
      `INSERT INTO mails (id, due_at, attempts, created_at, sealed)
       SELECT gen_random_uuid(), '2200-01-01', 0, now(), '' FROM generate_series(1, 10000)`,
    );
    assert.deepEqual([(await ask(email)).status, (await ask(`${randomUUID()}@example.com`)).status], [202, 202]);
    assert.equal(linesOf('notice_dropped', userId).length, 1);
    const { browser } = await makePerson(mailed.app, tenant.id, 'ADMIN');
    const change = { current_password: PASSWORD, new_password: NEW_PASSWORD };
    assert.equal((await browser.call('POST', '/portal/api/password', change)).status, 200);
    const { people } = peopleWatched(mailed);
    const link = await mailed.app.database.people((tx) => people.links.make(tx, userId, 'password-reset', HOUR_MS));
    assert.equal(await reset(link.reveal()), 204);
    assert.equal(linesOf('notice_dropped', userId).length, 2);
    await mailed.app.db.owner.query(`DELETE FROM mails WHERE due_at > '2100-01-01'`);
  });

  it('a new password is told to its user, and what was refused is not', async () => {
    await mailed.pass(24 * HOUR_MS);
    const { browser, email } = await makePerson(mailed.app, tenant.id, 'ADMIN');
    const change = (current: string) =>
      browser.call('POST', '/portal/api/password', { current_password: current, new_password: NEW_PASSWORD });
    assert.equal((await change('wrong')).status, 401);
    await mailed.mailsTo(email, 1);
    assert.equal((await change(PASSWORD)).status, 200);
    assert.match((await mailed.mailsTo(email, 2))[1] ?? '', /The password of your account was changed/);
  });

  it('without a server for mail: 202, no link, and the page can tell', async () => {
    const bare = await startTestApp();
    try {
      const { id } = await bare.makeTenant();
      const { email } = await makeMember(bare, id, 'ADMIN');
      const options = async (app: typeof bare) =>
        (await openBrowser(app).call('GET', '/portal/api/sign-in-options')).json;
      assert.deepEqual(
        [await options(bare), await options(mailed.app)],
        [
          { mail: false, passkeys: true, issuers: [] },
          { mail: true, passkeys: true, issuers: [] },
        ],
      );
      assert.equal((await openBrowser(bare).call('POST', FORGOTTEN, { email })).status, 202);
      const { rows } = await bare.db.owner.query('SELECT hash FROM user_links UNION SELECT sealed FROM mails');
      assert.deepEqual(rows, []);
    } finally {
      await bare.close();
    }
  });
});

/** The same people, with the names of the statements they run; `wake` is when mail is told to leave. */
function peopleWatched({ app, clock }: MailedApp): { readonly people: People; readonly seen: string[] } {
  const seen: string[] = [];
  const database: Database = {
    ...app.database,
    people: (work) =>
      app.database.people((tx) =>
        work({
          ...tx,
          run(statement, values) {
            seen.push(statement.name);
            return tx.run(statement, values);
          },
        }),
      ),
  };
  const { systemKeys } = app.keyStore;
  const outbox = { seal: createMailSeal(systemKeys.rowMac), clock };
  const people = createPeople({
    ...{ database, clock, systemKeys, portalUrl: () => 'https://vault.example' },
    oidc: createOidc({ issuers: [], portalUrl: () => '', outbound: { send: () => assert.fail() }, clock }),
    passwords: createPasswordHasher({ rowMacKey: systemKeys.rowMac, cost: TEST_PASSWORD_COST }),
    security: { onSignIn: () => {}, onNoticeDropped: () => {}, onPeopleAltered: () => {} },
    mail: {
      offer: (tx, mail) => offerMail(outbox, tx, mail),
      async pretend(tx, mail) {
        assert.equal(await offerMail({ ...outbox, isPretence: true }, tx, mail), false);
      },
      wake: () => seen.push('wake'),
    },
  });
  return { people, seen };
}
