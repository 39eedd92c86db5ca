import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { AppError } from '../kernel/errors.js';
import { Secret } from '../kernel/secret.js';
import {
  createPasswordHasher,
  PASSWORD_COST,
  PASSWORDS_AT_ONCE_MAX,
  PASSWORDS_WAITING_MAX,
  type PasswordHasherOptions,
} from './password-hash.js';

const LOW = { workFactor: 10, blockSize: 8, parallel: 1 };
const rowMacKey = createSecretKey(Buffer.alloc(32, 7));
const hasherOf = (options: Partial<PasswordHasherOptions> = {}) =>
  createPasswordHasher({ rowMacKey, cost: LOW, ...options });
const password = new Secret('correct horse battery');
const isOverloaded = (error: unknown): boolean => error instanceof AppError && error.code === 'overloaded';

describe('the hash of a password', () => {
  it('matches its password and no other one', async () => {
    const hasher = hasherOf();
    const stored = await hasher.hash('u1', password);
    assert.deepEqual(await hasher.verify('u1', password, stored), { matches: true, isOutdated: false });
    for (const text of ['correct horse batterz', 'Correct horse battery', '', 'correct horse battery ']) {
      assert.equal((await hasher.verify('u1', new Secret(text), stored)).matches, false, text);
    }
  });

  it('is another one each time, and holds nothing of the password', async () => {
    const hasher = hasherOf();
    const [one, two] = await Promise.all([hasher.hash('u1', password), hasher.hash('u1', password)]);
    assert.notEqual(one, two);
    assert.ok(!one.includes('horse') && !one.includes(Buffer.from('correct horse').toString('base64url')));
  });

  it('matches however the keyboard spells a letter with its accent', async () => {
    const hasher = hasherOf();
    const stored = await hasher.hash('u1', new Secret('cre\u0300me bru\u0302le\u0301e'));
    const verdict = await hasher.verify('u1', new Secret('cr\u00e8me br\u00fbl\u00e9e'), stored);
    assert.equal(verdict.matches, true);
  });

  it('does not match in the row of another user, under another key, at another cost or with another salt', async () => {
    const hasher = hasherOf({ cost: PASSWORD_COST });
    const stored = await hasherOf().hash('u1', password);
    const other = hasherOf({ rowMacKey: createSecretKey(Buffer.alloc(32, 8)) });
    assert.equal((await hasherOf().verify('u2', password, stored)).matches, false);
    assert.equal((await other.verify('u1', password, stored)).matches, false);
    const [, , , , salt = '', mac] = stored.split(':');
    const moved = `scrypt:10:8:1:${salt.startsWith('A') ? 'B' : 'A'}${salt.slice(1)}:${mac}`;
    assert.equal((await hasherOf().verify('u1', password, moved)).matches, false);
    const full = `scrypt:17:8:1:${salt}:${mac}`;
    assert.equal((await hasher.verify('u1', password, full)).matches, false);
  });

  it('made at an earlier cost it still matches, and says that it is outdated', async () => {
    const stored = await hasherOf({ cost: PASSWORD_COST }).hash('u1', password);
    assert.match(stored, /^scrypt:17:8:1:/);
    assert.deepEqual(await hasherOf().verify('u1', password, stored), { matches: true, isOutdated: true });
  });

  it('a row that asks for an unknown cost, or is damaged, is refused without doing what it asks', async () => {
    const hasher = hasherOf();
    const stored = await hasher.hash('u1', password);
    const [, , , , salt, mac] = stored.split(':');
    const wrong = [
      `scrypt:30:8:1:${salt}:${mac}`,
      `scrypt:10:99:1:${salt}:${mac}`,
      `scrypt:010:8:1:${salt}:${mac}`,
      `scrypt:1:8:1:${salt}:${mac}`,
      stored.slice(0, -1),
      `${stored}\n`,
      'plain text',
      '',
    ];
    for (const text of wrong) {
      await assert.rejects(hasher.verify('u1', password, text), { name: 'IntegrityError' }, text);
    }
  });
});

/** Time passes by hand. */
function busyHasher() {
  const due: (() => void)[] = [];
  const hasher = hasherOf({
    after: (_ms, call) => {
      due.push(call);
      return () => void due.splice(due.indexOf(call), 1);
    },
  });
  return { hasher, runOut: () => due.shift()?.(), waiting: () => due.length };
}

describe('a flood of passwords', () => {
  it('503 for whoever comes when too many wait, and those that wait are served', async () => {
    const { hasher, waiting } = busyHasher();
    const all = Array.from({ length: PASSWORDS_AT_ONCE_MAX + PASSWORDS_WAITING_MAX }, () => hasher.burn(password));
    assert.equal(waiting(), PASSWORDS_WAITING_MAX);
    const late = await Promise.allSettled([hasher.burn(password), hasher.verify('u', password, 'x')]);
    assert.ok(late.every((one) => one.status === 'rejected' && isOverloaded(one.reason)));
    assert.equal((await Promise.allSettled(all)).filter(({ status }) => status === 'fulfilled').length, all.length);
  });

  it('503 for whoever waits too long', async () => {
    const { hasher, runOut, waiting } = busyHasher();
    const running = Array.from({ length: PASSWORDS_AT_ONCE_MAX }, () => hasher.burn(password));
    const third = hasher.burn(password);
    assert.equal(waiting(), 1);
    runOut();
    await assert.rejects(third, isOverloaded);
    await Promise.all(running);
    await hasher.burn(password);
    assert.equal(waiting(), 0);
  });
});
