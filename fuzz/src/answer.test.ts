import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseAnswer } from './answer.js';

const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('an answer that comes in pieces', () => {
  it('is whole once its empty piece is there, and not a byte before', () => {
    const bytes = Buffer.from(`${HEAD}3\r\n{"a\r\nB\r\n":"\u00fc\u00fc\r\n"}\r\n0\r\n\r\n`);
    for (let end = 0; end < bytes.length; end += 1)
      assert.equal(parseAnswer(bytes.subarray(0, end), false), undefined, `${end} bytes`);
    const parsed = parseAnswer(Buffer.concat([bytes, Buffer.from('HTTP/1.1 ')]), false);
    assert.equal(parsed?.answer.body, '{"a":"\u00fc\u00fc\r\n"}');
    assert.equal(parsed.length, bytes.length);
  });

  it('is no answer where a piece is not as long as it says', () => {
    assert.throws(() => parseAnswer(Buffer.from(`${HEAD}2\r\nabc\r\n0\r\n\r\n`), false));
    assert.throws(() => parseAnswer(Buffer.from(`${HEAD}zz\r\nabc\r\n0\r\n\r\n`), false));
  });
});
