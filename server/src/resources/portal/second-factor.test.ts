import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { bytesOfBase32, hotp, TOTP_STEP_MS } from '../../people/factors/totp.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { Person } from './portal-fixture.js';
import { makePerson, openBrowser, PASSWORD } from './portal-fixture.js';

const SIGN_IN = '/portal/api/sign-in';
const OFFER = '/portal/api/authenticator';
const CONFIRM = '/portal/api/authenticator/confirm';
const RECOVERY_CODES = '/portal/api/recovery-codes';
const MINUTE_MS = 60_000;

interface Guarded extends Person {
  readonly secret: string;
  readonly recoveryCodes: readonly string[];
}

describe('a second factor', () => {
  let clock: FakeClock;
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    clock = createFakeClock(Date.now());
    app = await startTestApp({ clock });
    tenant = await app.makeTenant('Ours');
  });
  after(() => app.close());
  // All of them fail from one address, and are forgotten after a day.
  beforeEach(() => clock.advance(25 * 60 * MINUTE_MS));

  const codeOf = (secret: string, steps = 0) =>
    hotp(bytesOfBase32(secret), Math.floor(clock.nowMs() / TOTP_STEP_MS) + steps);
  const nextStep = () => clock.advance(TOTP_STEP_MS);
  const signIn = (email: string, code?: string | null, password = PASSWORD) =>
    openBrowser(app).call('POST', SIGN_IN, { email, password, ...(code !== undefined && { one_time_code: code }) });

  async function guarded(): Promise<Guarded> {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const { secret } = (await person.browser.call('POST', OFFER)).json as { secret: string };
    const { json } = await person.browser.call('POST', CONFIRM, { code: codeOf(secret) });
    nextStep();
    return { ...person, secret, recoveryCodes: json.recovery_codes as string[] };
  }

  it('is asked for from its first code on: 401 without it and with a wrong one, 200 with it', async () => {
    const { email, secret, recoveryCodes } = await guarded();
    assert.equal(new Set(recoveryCodes).size, 10);
    const wrong = codeOf(secret) === '000000' ? '000001' : '000000';
    for (const code of [undefined, null, '', wrong, 'x'.repeat(100)]) {
      assert.equal((await signIn(email, code)).status, 401);
      assert.equal((await signIn(email, codeOf(secret))).status, 200, 'and the failures in a row are forgotten');
      nextStep();
    }
  });

  it('is refused in the same words as a wrong password, and counts as a failure like one', async () => {
    const { email } = await guarded();
    const answers = new Set<string>();
    for (const [code, password] of [
      ['000000', PASSWORD],
      ['000000', 'wrong'],
      [undefined, 'wrong'],
      ['8k2mv-x01rq', PASSWORD],
      [undefined, PASSWORD],
    ] as const) {
      const { status, json } = await signIn(email, code, password);
      answers.add(JSON.stringify([status, { ...json, trace_id: '' }]));
    }
    assert.equal(answers.size, 1);
    assert.equal((await signIn(email, undefined)).status, 429);
  });

  it('works once: 401 for the code of the same step and of an earlier one, also at the same time', async () => {
    const { email, secret } = await guarded();
    const early = codeOf(secret, -1);
    const now = codeOf(secret);
    const statuses = (await Promise.all([signIn(email, now), signIn(email, now), signIn(email, now)])).map(
      ({ status }) => status,
    );
    assert.deepEqual(statuses.sort(), [200, 401, 401]);
    assert.equal((await signIn(email, now)).status, 401);
    assert.equal((await signIn(email, early)).status, 401);
    assert.equal((await signIn(email, codeOf(secret, 1))).status, 200, 'a clock that is ahead');
    assert.equal((await signIn(email, now)).status, 401);
  });

  it('is used up by nobody who does not know the password', async () => {
    const { email, secret, recoveryCodes } = await guarded();
    const [first = ''] = recoveryCodes;
    assert.equal((await signIn(email, codeOf(secret), 'wrong')).status, 401);
    assert.equal((await signIn(email, first, 'wrong')).status, 401);
    assert.equal((await signIn(email, codeOf(secret))).status, 200);
    assert.equal((await signIn(email, first)).status, 200);
  });

  it('has recovery codes in its place, each good once, however they are typed', async () => {
    const { email, userId, recoveryCodes } = await guarded();
    const [first = '', second = ''] = recoveryCodes;
    assert.equal((await signIn(email, first.toUpperCase().replace('-', ' '))).status, 200);
    assert.equal((await signIn(email, first)).status, 401);
    const both = await Promise.all([signIn(email, second), signIn(email, second)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 401]);
    const used = app.logLines.filter((line) => line.includes('recovery_code_used') && line.includes(userId));
    assert.equal(used.length, 2);
  });

  it('gives new recovery codes, and those of before are dead', async () => {
    const { email, browser, recoveryCodes } = await guarded();
    const { status, json } = await browser.call('POST', RECOVERY_CODES);
    const made = json.recovery_codes as string[];
    assert.equal(status, 200);
    assert.equal((await signIn(email, recoveryCodes[0])).status, 401);
    assert.equal((await signIn(email, made[0])).status, 200);
    assert.equal((await browser.call('GET', '/portal/api/factors')).json.recovery_codes_left, 9);
  });

  it('is removed with its recovery codes; then the password is enough', async () => {
    const { email, browser, userId } = await guarded();
    assert.equal((await browser.call('DELETE', OFFER)).status, 204);
    assert.equal((await browser.call('DELETE', OFFER)).status, 404);
    assert.equal((await browser.call('POST', RECOVERY_CODES)).status, 404);
    assert.equal((await signIn(email)).status, 200);
    const left = await app.db.owner.query('SELECT 1 FROM user_recovery_codes WHERE user_id = $1', [userId]);
    assert.equal(left.rows.length, 0);
  });

  it('ends every session when it is added; the browser that added it has a new one', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const thief = openBrowser(app);
    await thief.call('POST', SIGN_IN, { email: person.email, password: PASSWORD });
    const before = person.browser.cookie;
    const { secret } = (await person.browser.call('POST', OFFER)).json as { secret: string };
    assert.equal((await person.browser.call('POST', CONFIRM, { code: codeOf(secret) })).status, 200);
    assert.notEqual(person.browser.cookie, before);
    assert.equal((await person.browser.call('GET', '/portal/api/me')).status, 200);
    assert.equal((await thief.call('GET', '/portal/api/me')).status, 401);
  });

  it('is not there before its first code: not offered too long ago, not replaced, not of somebody else', async () => {
    const person = await makePerson(app, tenant.id, 'ADMIN');
    const other = await makePerson(app, tenant.id, 'ADMIN');
    assert.equal((await person.browser.call('POST', CONFIRM, { code: '000000' })).status, 404);
    const first = (await person.browser.call('POST', OFFER)).json as { secret: string };
    const theirs = (await other.browser.call('POST', OFFER)).json as { secret: string };
    const second = (await person.browser.call('POST', OFFER)).json as { secret: string; uri: string };
    assert.match(second.uri, /^otpauth:\/\/totp\/Strongroom:/);
    assert.equal((await signIn(person.email)).status, 200, 'an offer changes nothing');
    for (const { secret } of [first, theirs]) {
      const refused = await person.browser.call('POST', CONFIRM, { code: codeOf(secret) });
      assert.deepEqual([refused.status, Object.keys(refused.json.errors ?? {})], [400, ['code']]);
    }
    clock.advance(9 * MINUTE_MS);
    assert.equal((await person.browser.call('POST', CONFIRM, { code: codeOf(second.secret) })).status, 200);
    clock.advance(9 * MINUTE_MS);
    const late = await other.browser.call('POST', '/portal/api/step-up', { password: PASSWORD });
    assert.equal(late.status, 200);
    assert.equal((await other.browser.call('POST', CONFIRM, { code: codeOf(theirs.secret) })).status, 404);
  });

  it('takes a fresh sign-in to change, and a code to sign in freshly', async () => {
    const { browser, secret } = await guarded();
    clock.advance(11 * MINUTE_MS);
    for (const [method, path, body] of [
      ['POST', OFFER],
      ['POST', CONFIRM, { code: codeOf(secret) }],
      ['DELETE', OFFER],
      ['POST', RECOVERY_CODES],
    ] as const) {
      const { status, json } = await browser.call(method, path, body);
      assert.deepEqual([status, json.code], [403, 'step_up_required']);
    }
    const stepUp = (body: unknown) => browser.call('POST', '/portal/api/step-up', body);
    assert.equal((await stepUp({ password: PASSWORD })).status, 401);
    assert.equal((await stepUp({ password: PASSWORD, one_time_code: codeOf(secret) })).status, 200);
    assert.equal((await browser.call('POST', RECOVERY_CODES)).status, 200);
  });

  it('is asked for with a new password as well', async () => {
    const { browser, secret } = await guarded();
    const change = { current_password: PASSWORD, new_password: 'another good one 4711' };
    assert.equal((await browser.call('POST', '/portal/api/password', change)).status, 401);
    const withCode = { ...change, one_time_code: codeOf(secret) };
    assert.equal((await browser.call('POST', '/portal/api/password', withCode)).status, 200);
  });

  it('is stored sealed for its user: 503 for a row that was moved, and no secret or code in the database or the log', async () => {
    const { email, userId, secret, recoveryCodes } = await guarded();
    const other = await guarded();
    const everything = JSON.stringify([
      (await app.db.owner.query('SELECT user_id, encode(sealed, $1) AS sealed FROM user_authenticators', ['escape']))
        .rows,
      (await app.db.owner.query('SELECT encode(hash, $1) AS hash FROM user_recovery_codes', ['escape'])).rows,
      app.logLines,
    ]);
    for (const text of [secret, ...recoveryCodes, ...recoveryCodes.map((code) => code.replace('-', ''))]) {
      assert.equal(everything.includes(text), false);
    }
    await app.db.owner.query(
      `UPDATE user_authenticators SET sealed = (SELECT sealed FROM user_authenticators WHERE user_id = $2) WHERE user_id = $1`,
      [userId, other.userId],
    );
    await app.db.owner.query(
      `INSERT INTO user_recovery_codes SELECT $1, hash, created_at FROM user_recovery_codes WHERE user_id = $2`,
      [userId, other.userId],
    );
    assert.equal((await signIn(email, codeOf(other.secret))).status, 503);
    assert.ok(app.logLines.some((line) => line.includes('integrity_fault') && line.includes(userId)));
    await app.db.owner.query('DELETE FROM user_authenticators WHERE user_id = $1', [userId]);
    assert.equal(
      (await signIn(email, other.recoveryCodes[0])).status,
      200,
      'there is no second factor left to ask for',
    );
  });
});
