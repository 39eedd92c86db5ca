import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isMailAddress } from './address.js';

describe('a mail address', () => {
  it('is a plain one, in any language', () => {
    for (const good of ['a@b', 'ann@example.com', "o'neil+tag@mail.example.com", 'zoë@exämple.de', '用户@例子.广告']) {
      assert.equal(isMailAddress(good), true, good);
    }
  });

  it('is nothing that could become a header, a command or a second recipient', () => {
    for (const bad of [
      ...['', 'ann', '@example.com', 'ann@', 'ann@@', 'a b@example.com', 'ann@exam ple.com', '"a b"@example.com'],
      ...['ann@example.com\r\nBcc: eve@example.com', 'ann\n@example.com', 'ann@example.com>', '<ann@example.com>'],
      ...['ann@example.com, eve@example.com', 'ann@example.com;eve@example.com', 'ann@example.com\u0000'],
      ...['.ann@example.com', 'a..b@example.com', 'ann@-example.com', 'ann@example..com', 'ann@[127.0.0.1]'],
      ...[
        `${'a'.repeat(65)}@example.com`,
        `a@${'b'.repeat(64)}.com`,
        `a@${'b.'.repeat(170)}com`,
        'ann\ud800@example.com',
      ],
      ...['ann@example.com\u2028', 'ann(comment)@example.com', 'ann@example.com SIZE=1'],
    ]) {
      assert.equal(isMailAddress(bad), false, JSON.stringify(bad));
    }
  });
});
