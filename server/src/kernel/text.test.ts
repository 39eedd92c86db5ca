import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePointLength, hasForbiddenCharacters, isBlank } from './text.js';

const anyText = fc.string({ unit: 'binary', maxLength: 50 });

test('ordinary text holds nothing forbidden, whatever its script', () => {
  for (const text of ['', 'Zoë', '名前', '😀', 'line\nbreak\ttab', '\ufffd']) {
    assert.equal(hasForbiddenCharacters(text), false, JSON.stringify(text));
  }
});

test('a NUL or half of a surrogate pair is forbidden at any place', () => {
  for (const bad of ['\u0000', '\ud83d', '\ude00', '\ude00\ud83d']) {
    for (const text of [bad, `${bad}after`, `before${bad}`, `😀${bad}😀`]) {
      assert.equal(hasForbiddenCharacters(text), true, JSON.stringify(text));
    }
  }
});

test('text without forbidden characters survives a trip through UTF-8 unchanged', () => {
  const units = fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 20 });
  fc.assert(
    fc.property(units, (codes) => {
      const text = String.fromCharCode(...codes);
      const isIntact = Buffer.from(text, 'utf8').toString('utf8') === text;
      assert.equal(hasForbiddenCharacters(text), text.includes('\u0000') || !isIntact);
    }),
  );
});

test('the length counts code points, not the units they are stored in', () => {
  assert.equal(codePointLength(''), 0);
  assert.equal(codePointLength('abc'), 3);
  assert.equal(codePointLength('é'), 1);
  assert.equal(codePointLength('😀a😀'), 3);
  assert.equal(codePointLength('\ud83d'), 1);
  assert.equal(codePointLength('\ude00\ud83d'), 2);
  assert.equal(codePointLength('\ud83d😀'), 2);
  fc.assert(fc.property(anyText, (text) => assert.equal(codePointLength(text), Array.from(text).length)));
});

test('white space of every kind is blank, and so is text that leaves no mark', () => {
  const invisible = ['', ' ', '\t\r\n', '\u0085', '\u00a0', '\u2003', '\u2028', '\u3000', '\u200b\u200d', '\ufeff'];
  for (const text of [...invisible, '\u00ad', '\u2060', '\u3164', '\u{e0020}', ' \u200b ']) {
    assert.equal(isBlank(text), true, JSON.stringify(text));
  }
});

test('one visible character is enough not to be blank', () => {
  for (const text of ['a', ' a ', '\u200ba', '.', '0', '名', '\u0301', '😀']) {
    assert.equal(isBlank(text), false, JSON.stringify(text));
  }
});
