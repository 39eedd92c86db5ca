import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureFrom, rawServer, wayOut } from './outbound-fixture.js';

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

test('an answer that was given up in the middle is never taken for a whole one', async () => {
  const server = await rawServer((socket) => {
    const pieces = ['a', 'b', 'c'].map((letter) => chunk(letter.repeat(40_000))).join('');
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`);
  });
  const bounds = { connectMs: 60_000, headersMs: 60_000, idleMs: 60_000, unreadMs: 50 };
  const way = wayOut({ allow: [`http://127.0.0.1:${server.port}`], bounds });
  const { flow } = await way.get(`http://127.0.0.1:${server.port}/`);
  let bytes = 0;
  // A reader that takes the first piece and never has room again.
  const flowing = flow({
    write(piece) {
      bytes += piece.length;
      return false;
    },
    onRoom: () => {},
  });
  assert.equal((await failureFrom(flowing)).code, 'aborted');
  assert.ok(bytes < 120_000, `${bytes} bytes`);
  await way.close();
  await server.close();
});
