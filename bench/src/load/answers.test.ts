import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createAnswerReader } from './answers.js';

const ANSWER = 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbusy';

describe('reading answers', () => {
  it('an answer that comes byte by byte is one answer, told with its last byte', () => {
    const reader = createAnswerReader();
    const told = [...ANSWER].map((byte) => reader.push(Buffer.from(byte)));
    assert.deepEqual(
      told.filter((status) => status !== undefined),
      [503],
    );
    assert.equal(told.at(-1), 503);
    assert.equal(reader.isLast(), true);
  });

  it('an answer without a body ends with its head, and the connection goes on', () => {
    const reader = createAnswerReader();
    assert.equal(reader.push(Buffer.from('HTTP/1.1 204 No Content\r\nX: y\r\n\r\n')), 204);
    assert.equal(reader.isLast(), false);
  });
});
