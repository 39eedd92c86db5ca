import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { PasswordHasher } from '../../crypto/password-hash.js';
import { createPasswordHasher } from '../../crypto/password-hash.js';
import { AppError } from '../../kernel/errors.js';
import { makeMember, makeUser } from '../../resources/members/member-fixture.js';
import { givePassword, PASSWORD } from '../../resources/portal/portal-fixture.js';
import type { Database } from '../../storage/database.js';
import type { PeopleTx } from '../../storage/scope.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp, TEST_PASSWORD_COST } from '../../testing/test-app.js';
import { createOneTimeCodes } from '../factors/one-time-codes.js';
import { newTotpSecret } from '../factors/totp.js';
import type { People } from '../people.js';
import { createPeople } from '../people.js';

/** What a try to sign in does, in its order: transactions, statements by name, hashes. */
type Work = string[];

function noting(database: Database, work: Work): Database {
  const noted =
    <T>(kind: string, run: (tx: PeopleTx) => Promise<T>) =>
    (tx: PeopleTx): Promise<T> => {
      work.push(kind);
      return run({
        ...tx,
        run(statement, values) {
          work.push(statement.name);
          return tx.run(statement, values);
        },
      });
    };
  return {
    ...database,
    readPeople: (run) => database.readPeople(noted('a look', run)),
    people: (run) => database.people(noted('a change', run)),
  };
}

function hashing(hasher: PasswordHasher, work: Work): PasswordHasher {
  const noted = <T>(hash: Promise<T>): Promise<T> => {
    work.push('a hash');
    return hash;
  };
  return {
    hash: (...given) => noted(hasher.hash(...given)),
    verify: (...given) => noted(hasher.verify(...given)),
    burn: (...given) => noted(hasher.burn(...given)),
  };
}

/** It stands still: on a busy machine a wait of a second would be over before the next try. */
const CLOCK = createFakeClock(Date.now());

describe('a sign-in that fails', () => {
  let app: TestApp;
  let tenant: TestTenant;
  let people: People;
  const work: Work = [];
  before(async () => {
    app = await startTestApp();
    tenant = await app.makeTenant();
    const { systemKeys } = app.keyStore;
    const ignore = () => {};
    const refuse = () => Promise.reject(new Error('nothing is called here'));
    people = createPeople({
      ...{ database: noting(app.database, work), clock: CLOCK, systemKeys },
      passwords: hashing(createPasswordHasher({ rowMacKey: systemKeys.rowMac, cost: TEST_PASSWORD_COST }), work),
      security: { onSignIn: ignore, onNoticeDropped: ignore, onPeopleAltered: ignore },
      ...{ mail: undefined, portalUrl: () => 'http://localhost' },
      oidc: { list: () => [], redirectUri: () => undefined, begin: refuse, finish: refuse },
    });
  });
  after(() => app.close());

  async function someone(isDisabled = false): Promise<string> {
    const { email, userId } = await makeMember(app, tenant.id, 'ADMIN');
    await givePassword(app, userId);
    if (isDisabled) await app.db.owner.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
    return email;
  }

  async function guarded(): Promise<string> {
    const email = await someone();
    const { rows } = await app.db.owner.query('SELECT id FROM users WHERE email = $1', [email]);
    const codes = createOneTimeCodes({
      ...{ clock: CLOCK, rowMacKey: app.keyStore.systemKeys.rowMac },
      security: { onPeopleAltered: () => {} },
    });
    await app.db.owner.query(
      'INSERT INTO user_authenticators (user_id, sealed, last_step, created_at) VALUES ($1, $2, 0, now())',
      [rows[0].id, codes.seal(rows[0].id, newTotpSecret())],
    );
    return email;
  }

  async function bare(): Promise<string> {
    const email = `${randomUUID()}@example.com`;
    await makeUser(app, email);
    return email;
  }

  /** Each from an address of its own, so that nobody waits. */
  async function workOf(email: string, password: string, oneTimeCode: string | undefined): Promise<Work> {
    work.length = 0;
    const visitor = { limitKey: randomUUID(), address: '192.0.2.1', agent: undefined };
    await assert.rejects(
      people.accounts.signIn({ email, password, oneTimeCode }, visitor, undefined),
      (error) => error instanceof AppError && error.status === 401,
    );
    return [...work];
  }

  for (const [what, code] of [
    ['without a code', undefined],
    ['with six digits', '000000'],
    ['with what looks like a recovery code', '8k2mv-x01rq'],
    ['with what cannot be a code', 'x'.repeat(100)],
  ] as const) {
    it(`${what} does the same work for every cause, one hash and one failure of account and address among it`, async () => {
      const done = {
        'unknown address': await workOf(`${randomUUID()}@example.com`, PASSWORD, code),
        'no password': await workOf(await bare(), PASSWORD, code),
        'wrong password': await workOf(await someone(), 'wrong', code),
        'locked out': await workOf(await someone(true), PASSWORD, code),
        'locked out, wrong password': await workOf(await someone(true), 'wrong', code),
        'right password, wrong or missing code': await workOf(await guarded(), PASSWORD, code),
        'wrong password, wrong or missing code': await workOf(await guarded(), 'wrong', code),
      };
      const { 'wrong password': expected } = done;
      assert.equal(expected.filter((step) => step === 'a hash').length, 1);
      assert.equal(expected.filter((step) => step === 'add_sign_in_failure').length, 2);
      assert.equal(expected.filter((step) => step === 'find_sign_in').length, 1);
      for (const [cause, steps] of Object.entries(done)) assert.deepEqual(steps, expected, cause);
    });
  }

  it('counts as one failure, whatever the cause: the fifth in a row makes the sixth wait', async () => {
    for (const email of [
      `${randomUUID()}@example.com`,
      await bare(),
      await someone(),
      await someone(true),
      await guarded(),
    ]) {
      for (let n = 0; n < 5; n += 1) await workOf(email, 'wrong', undefined);
      const visitor = { limitKey: randomUUID(), address: '192.0.2.1', agent: undefined };
      await assert.rejects(
        people.accounts.signIn({ email, password: 'wrong', oneTimeCode: undefined }, visitor, undefined),
        (error) => error instanceof AppError && error.code === 'sign_in_delayed',
      );
    }
  });
});
