import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { describe, it } from 'node:test';
import { newRecoveryCodes, RECOVERY_CODES, recoveryCodeHash } from './recovery-codes.js';

const key = createSecretKey(Buffer.alloc(32, 3));
const hashed = (typed: string, userId = 'u1') => recoveryCodeHash(key, userId, typed)?.toString('hex');

describe('recovery codes', () => {
  it('are ten different ones in two groups, without letters that look like digits', () => {
    const codes = newRecoveryCodes().map((code) => code.reveal());
    assert.equal(new Set(codes).size, RECOVERY_CODES);
    for (const code of codes) assert.match(code, /^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
    assert.ok(codes.every((code) => hashed(code) !== undefined));
  });

  it('match however they are typed: case, spaces, hyphens, and letters for the digits they look like', () => {
    const stored = hashed('8k0mv-x11rq');
    for (const typed of ['8K0MV-X11RQ', '8k0mvx11rq', ' 8k0mv x11rq ', '8kOmv-xIlrq', '8-k-0-m-v-x-1-1-r-q']) {
      assert.equal(hashed(typed), stored, typed);
    }
    assert.notEqual(hashed('8k0mv-x11rr'), stored);
  });

  it('what cannot be a code has no hash', () => {
    for (const typed of ['', '8k0mv-x11r', '8k0mv-x11rqq', '8k0mv-x11ru', '8k0mv-x11r\u0131', '８k0mv-x11rq']) {
      assert.equal(hashed(typed), undefined, typed);
    }
  });

  it('have another hash for another user and under another key', () => {
    assert.notEqual(hashed('8k0mv-x11rq', 'u2'), hashed('8k0mv-x11rq'));
    const other = recoveryCodeHash(createSecretKey(Buffer.alloc(32, 4)), 'u1', '8k0mv-x11rq')?.toString('hex');
    assert.notEqual(other, hashed('8k0mv-x11rq'));
  });

  it('have the hash they always had', () => {
    assert.equal(hashed('8k0mv-x11rq'), '04c80e6cca5091268dd5011fc5515a046c7c8679cd4b9a226125b549863c5834');
  });
});
