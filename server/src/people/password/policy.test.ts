import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { describe, it } from 'node:test';
import { generateCommonPasswords } from '../../testing/common-passwords/generate.js';
import { COMMON_PASSWORDS_FILE } from './common-passwords.js';
import { loadPasswordPolicy } from './policy.js';

const policy = loadPasswordPolicy();
const faultsOf = (password: string, email = 'annabel@example.com') => policy.faultsOf(password, { email });
const COMMON = ['Is a common password, or common words with digits or signs around them.'];
const REPEATS = ['Must not repeat the same few characters.'];
const PRODUCT = ['Must be more than the name of the product.'];
const LOCAL_PART = ['Must not contain the name in the e-mail address.'];

describe('a new password', () => {
  it('is good from 12 to 200 characters, with any characters and no others demanded', () => {
    for (const good of [
      'plum tractor 9',
      'gjwkqpvnzmtr',
      '481906237755',
      'überaus öde Ähre',
      '😀😃😄😁😆😅🤣😂🙂🙃😉😊',
      'correct horse battery staple',
      'monkey 40917736251',
      'monkeydragonplum',
    ]) {
      assert.deepEqual(faultsOf(good), [], good);
    }
    assert.deepEqual(faultsOf(`${'abcdefghjk'.repeat(19)}lmnopqrstu`), []);
  });

  it('400 when it is too short or too long, counted as a person counts', () => {
    assert.deepEqual(faultsOf('gjwkqpvnzmt'), ['Must have at least 12 characters.']);
    assert.deepEqual(faultsOf('😀😃😄😁😆😅'), ['Must have at least 12 characters.']);
    assert.deepEqual(faultsOf('e\u0301a\u0301o\u0301u\u0301i\u0301n'), ['Must have at least 12 characters.']);
    assert.deepEqual(faultsOf(`${'abcdefghjk'.repeat(20)}l`), ['Must have at most 200 characters.']);
    assert.ok(faultsOf('').length > 0);
  });

  it('400 when it is common, in any case, with signs for letters or behind it', () => {
    for (const common of [
      'password1234',
      'PASSWORD1234',
      'P@ssw0rd1234',
      'pa$$w0rd2026!',
      'Password1234!!!',
      'Qwertyuiop123',
      'iloveyou12345',
      '123456789012',
      'Welcome@2026',
      'Summer2026!!',
      'administrator',
      '$ummer2026!!!',
      '123456-dragon',
      'monkeydragon!',
    ]) {
      assert.ok(faultsOf(common).includes(COMMON[0] ?? ''), common);
    }
  });

  it('400 when it repeats a few characters', () => {
    for (const repetitive of ['xkxkxkxkxkxk', 'wjf3wjf3wjf3', 'zq9!mzq9!mzq9', '7777777777777', 'kfmtqwzpkfmtqwzp']) {
      assert.deepEqual(faultsOf(repetitive), REPEATS, repetitive);
    }
  });

  it('400 when it is the name of the product and little else', () => {
    for (const name of ['Strongroom#77', 'strong-room 19!', 'Str0ngr00m...', 'StrongroomStrongroom']) {
      assert.ok(faultsOf(name).includes(PRODUCT[0] ?? ''), name);
    }
    assert.deepEqual(faultsOf('strongroom plum tractor'), []);
  });

  it('400 when it contains the name in the e-mail address, unless that is too short to matter', () => {
    assert.deepEqual(faultsOf('my-Annabel-77-plum'), LOCAL_PART);
    assert.deepEqual(faultsOf('plum tractor 9', 'tractor@example.com'), LOCAL_PART);
    assert.deepEqual(faultsOf('plum tractor 9', 'tra@example.com'), []);
    assert.deepEqual(faultsOf('plum tractor 9', ''), []);
  });

  it('400 when it cannot be stored as text', () => {
    const fault = ['Must not hold U+0000 or half of a surrogate pair.'];
    assert.deepEqual(faultsOf('plum tractor \u0000'), fault);
    assert.deepEqual(faultsOf('plum tractor \ud800'), fault);
  });

  it('no message repeats the password', () => {
    for (const password of ['annabel', 'strongroom12', 'password1234']) {
      assert.ok(faultsOf(password).length > 0);
      assert.ok(!faultsOf(password).join().includes(password));
    }
  });
});

describe('the list of common passwords', () => {
  it('is the generated one, and small', () => {
    assert.deepEqual(readFileSync(COMMON_PASSWORDS_FILE, 'utf8').trimEnd().split('\n'), generateCommonPasswords());
    assert.ok(statSync(COMMON_PASSWORDS_FILE).size <= 200_000);
  });
});
