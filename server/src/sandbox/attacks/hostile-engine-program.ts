import type { Socket } from 'node:net';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { encodeFrame } from '../engine/frame.js';

/**
 * In the place of an engine that somebody has taken over: listens where the engine does and says what it likes. What that is
 * comes on standard input, in place of the table of system calls: by path, bytes in base64 and whether they are said without end.
 */
const speech: Readonly<Record<string, { readonly said: string; readonly isEndless: boolean }>> = JSON.parse(
  await text(process.stdin),
);
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** How long it waits with the one honest answer: how often it was asked for requests until then. */
const COUNTS_MS = 1_000;
let polls = 0;

createServer((socket) => {
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    const [, path = ''] = /^POST (\/[a-z]*)/.exec(bytes.toString('latin1')) ?? [];
    if (path === '/out') polls += 1;
    const answer = speech[path];
    if (path === '/run' && answer === undefined) setTimeout(() => socket.write(countOfPolls()), COUNTS_MS);
    else if (answer?.isEndless) sayForEver(socket, Buffer.from(answer.said, 'base64'));
    else socket.write(answer === undefined ? OK : Buffer.from(answer.said, 'base64'));
  });
}).listen('s/in.sock');

function sayForEver(socket: Socket, piece: Buffer): void {
  let isFull = false;
  while (!socket.destroyed && !isFull) isFull = !socket.write(piece);
  if (!socket.destroyed) socket.once('drain', () => sayForEver(socket, piece));
}

function countOfPolls(): Buffer {
  const frame = encodeFrame({ outcome: 'returned' }, Buffer.from(String(polls)));
  return Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${frame.length}\r\n\r\n`), frame]);
}
