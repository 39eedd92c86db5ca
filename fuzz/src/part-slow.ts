import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { HANG_MS } from './connection.js';
import type { Case, Part } from './part.js';
import { bytesOf, request } from './request.js';

/** The product gives headers ten seconds and looks once a second. */
const HEADERS_DEADLINE_MS = 25_000;
const IDLE = 200;
const UNREAD = 40;

/** Clients that take their time. They are served or sent away, and nobody else waits for them. */
export const slow: Part = {
  name: 'slow',
  about: 'bytes a few at a time, half-closed and idle connections, readers that do not read',
  cases: { short: 28, long: 360 },
  width: 14,
  isBeside: true,
  async run(one) {
    const runs = [trickle, trickle, trickle, stopInHead, holdBody, idle, neverRead];
    const run = runs[one.index % runs.length] ?? trickle;
    await run(one);
    const answer = await one.call(undefined, 'GET', '/healthz');
    one.check(answer.status === 200, 'others were not served meanwhile');
  },
};

async function trickle(one: Case): Promise<void> {
  const { random, world } = one;
  const body = JSON.stringify({ data: { a: world.secretMark } });
  const bytes = bytesOf(request(world.side.privateKey, 'POST', '/tokens', body));
  const outcome = await one.raw({
    bytes,
    after: 'settle',
    settleMs: HANG_MS / 2,
    pieces: 10 + random.below(40),
    pauseMs: 20 + random.below(40),
  });
  one.check(outcome.answers[0]?.status === 201, `a slow but whole request answers ${outcome.answers[0]?.status}`);
}

/** Never finishes its headers: told so, and sent away. */
async function stopInHead(one: Case): Promise<void> {
  const bytes = Buffer.from(`GET /healthz HTTP/1.1\r\nHost: fuzz\r\nX: ${one.random.text(20, 'abc')}`);
  const outcome = await one.raw({ bytes, after: 'wait', deadlineMs: HEADERS_DEADLINE_MS, isSlow: true });
  one.check(outcome.isClosed, 'a request that never comes keeps its connection');
  one.check(outcome.answers[0]?.status === 408, `it is told ${outcome.answers[0]?.status}`);
}

/** Promises a body, sends some of it, and leaves. */
async function holdBody(one: Case): Promise<void> {
  const { random, world } = one;
  const headers = `Host: fuzz\r\nSVC-API-KEY: ${world.side.privateKey}\r\nContent-Type: application/json`;
  const head = `POST /tokens HTTP/1.1\r\n${headers}\r\nContent-Length: 500000\r\n\r\n`;
  const bytes = Buffer.from(head + ' '.repeat(random.below(1_000)));
  const outcome = await one.raw({ bytes, after: random.oneIn(2) ? 'end' : 'settle', pieces: 20, pauseMs: 50 });
  one.check(outcome.isClosed, 'half a body keeps its connection');
}

async function idle(one: Case): Promise<void> {
  const sockets = Array.from({ length: IDLE }, () => open(one.world.port));
  one.count(IDLE);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const answer = await one.call(one.world.main.privateKey, 'GET', `/tokens/${one.world.main.tokenId}`);
  one.check(answer.status === 200, 'idle connections keep others out');
  for (const socket of sockets) socket.destroy();
}

/** Asks for a great deal and reads none of it: what waits to be sent is bounded by what was asked for last. */
async function neverRead(one: Case): Promise<void> {
  const socket = open(one.world.port);
  socket.pause();
  for (let asked = 0; asked < UNREAD; asked += 1) socket.write(bytesOf(request(undefined, 'GET', '/openapi.json')));
  one.count(UNREAD);
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const answer = await one.call(one.world.main.privateKey, 'GET', `/tokens/${one.world.main.tokenId}`);
  one.check(answer.status === 200, 'a reader that does not read keeps others out');
  socket.destroy();
}

function open(port: number): Socket {
  const socket = connect({ port, host: '127.0.0.1' });
  socket.on('error', () => {});
  return socket;
}
