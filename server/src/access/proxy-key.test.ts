import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  applicationTypeOfKey,
  containsKey,
  generateApiKey,
  generateProxyKey,
  isSessionKey,
  isWellFormedApiKey,
  isWellFormedProxyKey,
} from './api-key.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('a proxy key', () => {
  it('is key_prx_ and 32 characters, always another, and is kept out of logs', () => {
    const keys = Array.from({ length: 200 }, () => generateProxyKey().reveal());
    assert.equal(new Set(keys).size, keys.length);
    for (const key of keys) {
      assert.match(key, /^key_prx_[0-9A-Za-z]{32}$/);
      assert.ok(isWellFormedProxyKey(key) && containsKey(`before ${key} after`));
    }
  });

  it('is no API key, and no API key is one', () => {
    const key = generateProxyKey().reveal();
    assert.ok(!isWellFormedApiKey(key) && !isSessionKey(key));
    assert.equal(applicationTypeOfKey(key), undefined);
    for (const type of ['public', 'private', 'management', 'session'] as const) {
      const other = generateApiKey(type).reveal();
      assert.ok(!isWellFormedProxyKey(other) && !isWellFormedProxyKey(other.replace(/^key_..._/, 'key_prx_')), type);
    }
  });

  it('is refused with any one character changed, left out or added', () => {
    const key = generateProxyKey().reveal();
    for (let at = 0; at < key.length; at += 1) {
      const [before, here, rest] = [key.slice(0, at), key.charAt(at), key.slice(at + 1)];
      assert.ok(!isWellFormedProxyKey(before + rest), `without ${at}`);
      for (const other of `${ALPHABET}_- \n`) {
        if (other !== here) assert.ok(!isWellFormedProxyKey(before + other + rest), `${other} at ${at}`);
        assert.ok(!isWellFormedProxyKey(before + other + here + rest), `${other} added at ${at}`);
      }
    }
  });
});
