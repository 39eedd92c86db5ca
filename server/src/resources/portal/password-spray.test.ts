// needs: time

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { createPasswordHasher } from '../../crypto/password-hash.js';
import { newId } from '../../kernel/ids.js';
import { Secret } from '../../kernel/secret.js';
import { peopleJobs } from '../../people/jobs.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { Answer } from '../../testing/http-client.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp, TEST_PASSWORD_COST } from '../../testing/test-app.js';
import { openBrowser, PASSWORD } from './portal-fixture.js';

const ACCOUNTS = 10_000;
/** From a single address most are turned away, and more of them show nothing more. */
const OF_ONE_ADDRESS = 2_000;
/** Of them so many have a password that the test knows; that of the others is nobody's. */
const KNOWN = 40;
const AT_ONCE = 50;
const DAY_MS = 24 * 3_600_000;
const SPRAYED = 'Password1234!';
/** What an address may try before it waits: 20 for nothing, and the one after which the first wait begins. */
const FREE_OF_ADDRESS = 21;
const FREE_OF_ACCOUNT = 4;

const emailOf = (index: number) => `user-${index}@spray.example`;

describe('one password tried on ten thousand accounts', () => {
  let clock: FakeClock;
  let app: TestApp;
  let addresses = 0;
  before(async () => {
    clock = createFakeClock(Date.now());
    // Rate limits are off: what is seen here holds without them.
    app = await startTestApp({ clock, env: { STRONGROOM_TRUSTED_PROXIES: 'loopback' } });
    await makeAccounts();
  });
  after(() => app.close());
  beforeEach(() => app.db.owner.query('DELETE FROM sign_in_failures'));

  async function makeAccounts(): Promise<void> {
    const hasher = createPasswordHasher({ rowMacKey: app.keyStore.systemKeys.rowMac, cost: TEST_PASSWORD_COST });
    const hashOf = (userId: string) => hasher.hash(userId, new Secret(PASSWORD));
    const known = Array.from({ length: KNOWN }, () => newId());
    await app.db.owner.query(
      `INSERT INTO users (id, email, email_key, created_at)
       SELECT coalesce(($1::uuid[])[n + 1], gen_random_uuid()), 'user-' || n || '@spray.example', 'user-' || n || '@spray.example', now()
       FROM generate_series(0, $2::int - 1) n`,
      [known, ACCOUNTS],
    );
    // A hash is bound to its user: the same for all of them is a password that nobody knows.
    await app.db.owner.query(
      'INSERT INTO user_passwords (user_id, hash, changed_at) SELECT id, $1, now() FROM users WHERE email IS NOT NULL',
      [await hashOf(newId())],
    );
    for (const id of known) {
      await app.db.owner.query('UPDATE user_passwords SET hash = $2 WHERE user_id = $1', [id, await hashOf(id)]);
    }
  }

  function newAddress(): string {
    addresses += 1;
    return `203.0.113.${addresses}`;
  }
  const signIn = (address: string, email: string, password: string): Promise<Answer> =>
    openBrowser(app).call('POST', '/portal/api/sign-in', { email, password }, { 'X-Forwarded-For': address });

  /** Tries the accounts, many at once, and counts the answers by status. Only a 401 looked at the password. */
  async function spray(from: number, to: number, addressOf: (index: number) => string): Promise<Map<number, number>> {
    const statuses = new Map<number, number>();
    for (let first = from; first < to; first += AT_ONCE) {
      const batch = Array.from({ length: Math.min(AT_ONCE, to - first) }, (_, place) =>
        signIn(addressOf(first + place), emailOf(first + place), SPRAYED),
      );
      for (const { status } of await Promise.all(batch)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    return statuses;
  }

  /** A machine that is busy tells some to come again (503), who are not looked at either. Gives how many were. */
  function assertBounded(statuses: ReadonlyMap<number, number>, sent: number, most: number): number {
    const { 401: checked = 0, 429: delayed = 0, 503: unavailable = 0, ...others } = Object.fromEntries(statuses);
    assert.deepEqual(others, {});
    assert.equal(checked + delayed + unavailable, sent);
    assert.ok(checked > 0 && checked <= most, `${checked} were looked at`);
    return checked;
  }

  async function counts(): Promise<number[]> {
    const { rows } = await app.db.owner.query<{ count: number }>('SELECT count FROM sign_in_failures ORDER BY count');
    return rows.map(({ count }) => count);
  }

  async function assertNobodyWaits(): Promise<void> {
    const address = newAddress();
    for (let index = 0; index < KNOWN; index += 1) {
      assert.equal((await signIn(address, emailOf(index), PASSWORD)).status, 200, emailOf(index));
    }
  }

  it('from one address: 21 are looked at, however many are sent at once; nobody else waits', async () => {
    const address = newAddress();
    const statuses = await spray(0, OF_ONE_ADDRESS, () => address);
    const checked = assertBounded(statuses, OF_ONE_ADDRESS, FREE_OF_ADDRESS);
    assert.deepEqual(await counts(), [...Array(checked).fill(1), checked]);
    await assertNobodyWaits();
    assert.equal((await signIn(address, emailOf(0), PASSWORD)).status, 429, 'the address waits, whatever it knows');
  });

  it('from twenty addresses: 21 of each are looked at, no account has more than one failure', async () => {
    const sources = Array.from({ length: 20 }, newAddress);
    const statuses = await spray(0, ACCOUNTS, (index) => sources[index % sources.length] ?? '');
    const checked = assertBounded(statuses, ACCOUNTS, sources.length * FREE_OF_ADDRESS);
    const found = await counts();
    assert.equal(found.length, checked + sources.length);
    assert.deepEqual(new Set(found.slice(0, checked)), new Set([1]));
    await assertNobodyWaits();
  });

  it('from four addresses on the same accounts: nobody is locked out, since four failures cost nothing', async () => {
    for (let n = 0; n < FREE_OF_ACCOUNT; n += 1) {
      const address = newAddress();
      assert.ok(((await spray(0, KNOWN, () => address)).get(401) ?? 0) <= FREE_OF_ADDRESS);
    }
    await assertNobodyWaits();
  });

  it('from an address that waits as long as it is told: fewer than 130 in a day', async () => {
    const address = newAddress();
    const untilMs = clock.nowMs() + DAY_MS;
    let checked = 0;
    for (let index = KNOWN; clock.nowMs() < untilMs; index += 1) {
      const { status, headers } = await signIn(address, emailOf(index), SPRAYED);
      if (status === 401) checked += 1;
      else clock.advance(Number(headers.get('retry-after')) * 1_000);
    }
    assert.ok(checked > FREE_OF_ADDRESS && checked < 130, String(checked));
  });

  it('many at once on one account: five are looked at, from wherever they come', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => signIn(newAddress(), emailOf(0), SPRAYED)));
    assert.equal(answers.filter(({ status }) => status === 401).length, FREE_OF_ACCOUNT + 1);
    clock.advance(1_000);
    assert.equal((await signIn(newAddress(), emailOf(0), PASSWORD)).status, 200);
  });

  it('leaves no row behind for who signs in, and none for a try that nobody looked at', async () => {
    await assertNobodyWaits();
    assert.deepEqual(await counts(), []);
    const email = emailOf(KNOWN);
    await app.db.owner.query(
      `UPDATE user_passwords SET hash = 'damaged' WHERE user_id = (SELECT id FROM users WHERE email_key = $1)`,
      [email],
    );
    for (let n = 0; n < 2 * FREE_OF_ADDRESS; n += 1) {
      assert.equal((await signIn('203.0.113.200', email, SPRAYED)).status >= 500, true);
    }
    assert.deepEqual(await counts(), []);
  });

  it('rows go a day after the last failure, and the oldest before that once there are too many', async () => {
    await spray(0, 200, (index) => `198.51.100.${index}`);
    const [job] = peopleJobs(app.database, { failuresMax: 150 });
    assert.ok(job);
    const sweep = async (nowMs: number) => {
      while ((await job.step(nowMs)) > 0);
      return (await counts()).length;
    };
    clock.advance(1_000);
    await spray(200, 250, (index) => `198.51.100.${index}`);
    assert.equal(await sweep(clock.nowMs()), 150);
    const { rows } = await app.db.owner.query('SELECT 1 FROM sign_in_failures WHERE last_at = $1', [
      new Date(clock.nowMs()),
    ]);
    assert.equal(rows.length, 100, 'the newest stay');
    assert.equal(await sweep(clock.nowMs() + DAY_MS - 1_000), 100);
    assert.equal(await sweep(clock.nowMs() + DAY_MS), 0);
  });
});
