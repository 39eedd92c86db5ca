import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { printable } from './printable.js';

describe('a name on the operator’s terminal', () => {
  it('stays one line without colours, bells or turned text', () => {
    assert.equal(printable('x\nforged\u001b[31m\u0007'), 'x\\u{a}forged\\u{1b}[31m\\u{7}');
    assert.equal(printable('a\u202eb\u2028c\u009bd'), 'a\\u{202e}b\\u{2028}c\\u{9b}d');
  });

  it('keeps letters of every script and emoji', () => {
    assert.equal(printable('Größe 東京 😀'), 'Größe 東京 😀');
  });
});
