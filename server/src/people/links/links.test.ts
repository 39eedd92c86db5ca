import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { makeUser } from '../../resources/members/member-fixture.js';
import type { FakeClock } from '../../testing/fake-clock.js';
import { createFakeClock } from '../../testing/fake-clock.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { LinkPurpose, Links } from './links.js';
import { createLinks } from './links.js';

const LIFE_MS = 60_000;

describe('links that work once', () => {
  let app: TestApp;
  let clock: FakeClock;
  let links: Links;
  let users = 0;
  before(async () => {
    app = await startTestApp();
    clock = createFakeClock(Date.now());
    links = createLinks({ clock, keys: app.keyStore.systemKeys });
  });
  after(() => app.close());

  const newUser = (): Promise<string> => {
    users += 1;
    return makeUser(app, `link-${users}@example.com`);
  };
  const make = async (userId: string, purpose: LinkPurpose): Promise<string> =>
    (await app.database.people((tx) => links.make(tx, userId, purpose, LIFE_MS))).reveal();
  const take = (secret: string, purpose: LinkPurpose) => app.database.people((tx) => links.take(tx, secret, purpose));

  it('one that is taken twice at the same moment is taken once', async () => {
    const userId = await newUser();
    const secret = await make(userId, 'set-up');
    const taken = await Promise.all([1, 2, 3, 4].map(() => take(secret, 'set-up')));
    assert.deepEqual(
      taken.filter((whose) => whose !== undefined),
      [userId],
    );
  });

  it('of several made at the same moment one is left; those for another purpose and of another user stay', async () => {
    const [userId, other] = [await newUser(), await newUser()];
    const [reset, ofOther] = [await make(userId, 'password-reset'), await make(other, 'set-up')];
    const made = await Promise.all([1, 2, 3, 4].map(() => make(userId, 'set-up')));
    const good = [];
    for (const secret of made) good.push(await take(secret, 'set-up'));
    assert.deepEqual(
      good.filter((whose) => whose !== undefined),
      [userId],
    );
    assert.deepEqual([await take(reset, 'password-reset'), await take(ofOther, 'set-up')], [userId, other]);
  });

  it('made and taken at the same moment none waits for the other for ever', async () => {
    const userId = await newUser();
    for (let round = 0; round < 10; round += 1) {
      const secret = await make(userId, 'set-up');
      const [whose, next] = await Promise.all([take(secret, 'set-up'), make(userId, 'set-up')]);
      assert.ok(whose === userId || whose === undefined);
      assert.equal(await take(next, 'set-up'), userId);
    }
  });

  it('one for another purpose is none, and stays good for its own', async () => {
    const userId = await newUser();
    const secret = await make(userId, 'password-reset');
    assert.equal(await take(secret, 'set-up'), undefined);
    assert.equal(await take(secret, 'password-reset'), userId);
  });

  it('a row that was given to another user, purpose or time in the database opens nothing', async () => {
    const thief = await newUser();
    for (const change of [
      `user_id = '${thief}'`,
      `purpose = 'password-reset'`,
      `expires_at = expires_at + interval '1 hour'`,
    ]) {
      const userId = await newUser();
      const secret = await make(userId, 'set-up');
      await app.db.owner.query(`UPDATE user_links SET ${change} WHERE user_id = $1`, [userId]);
      assert.equal(await take(secret, 'set-up'), undefined, change);
      assert.equal(await take(secret, 'password-reset'), undefined, change);
    }
  });

  it('undefined once its time is over', async () => {
    const secret = await make(await newUser(), 'set-up');
    clock.advance(LIFE_MS);
    assert.equal(await take(secret, 'set-up'), undefined);
  });
});
