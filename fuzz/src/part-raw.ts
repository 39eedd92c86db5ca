import { HANG_MS } from './connection.js';
import type { Case, Part } from './part.js';
import type { Random } from './random.js';
import { AMBIGUOUS, ODD } from './raw-shapes.js';
import { bytesOf, request } from './request.js';

const KINDS = 6;

/** Bytes nobody should send: each gets a refusal with a problem body, or the connection ends; soon in either case. */
export const rawBytes: Part = {
  name: 'raw',
  about: 'bytes on the socket: noise, broken framing, smuggling shapes, other protocols, cuts and resets at every byte',
  cases: { short: 840, long: 24_000 },
  width: 32,
  async run(one) {
    // By number, not by chance: the cuts have to come at every byte.
    switch (one.index % KINDS) {
      case 0:
        return sendOdd(one);
      case 1:
        return sendAmbiguous(one);
      case 2:
        return sendMutated(one);
      case 3:
        return cutAt(one, Math.floor(one.index / KINDS));
      case 4:
        return resetAt(one, Math.floor(one.index / KINDS));
      default:
        return sendPipelined(one);
    }
  },
};

function validRequest(one: Case): Buffer {
  const { random, world } = one;
  const key = world.side.privateKey;
  return random.pick([
    () => bytesOf(request(key, 'POST', '/tokens', JSON.stringify({ data: { a: world.secretMark } }))),
    () => bytesOf(request(world.main.privateKey, 'GET', '/tokens?size=2')),
    () => bytesOf(request(world.side.manageKey, 'PUT', '/tenants/self', '{"name":"Side"}')),
    () => bytesOf(request(undefined, 'GET', '/healthz')),
  ])();
}

async function sendOdd(one: Case): Promise<void> {
  const { random, world } = one;
  const bytes = random.oneIn(6)
    ? random.bytes(1 + random.below(2_000))
    : Buffer.from(random.pick(ODD)(world.side.privateKey, random), 'latin1');
  const outcome = await one.raw({ bytes, after: 'settle', pieces: random.oneIn(4) ? 1 + random.below(20) : 1 });
  one.check(outcome.isClosed, 'the connection was neither answered nor closed');
}

/** Two readers would not agree where such a request ends, so nothing behind its first answer may be obeyed. */
async function sendAmbiguous(one: Case): Promise<void> {
  const { random, world } = one;
  const inner = `DELETE /tokens/${world.side.tokenId} HTTP/1.1\r\nHost: fuzz\r\nSVC-API-KEY: ${world.side.privateKey}\r\n\r\n`;
  const bytes = Buffer.from(random.pick(AMBIGUOUS)(world.side.privateKey, inner), 'latin1');
  const outcome = await one.raw({ bytes, after: 'wait' });
  one.check(outcome.isClosed, 'the connection was neither answered nor closed');
  const statuses = outcome.answers.map(({ status }) => status);
  one.check(statuses.length <= 1, `the smuggled request was answered too: ${statuses.join(', ')}`);
  one.check(
    statuses.every((status) => status >= 400),
    `it was accepted: ${statuses.join(', ')}`,
  );
}

async function sendMutated(one: Case): Promise<void> {
  const { random } = one;
  const bytes = mutated(validRequest(one), random);
  const outcome = await one.raw({ bytes, after: 'settle' });
  one.check(outcome.isClosed, 'the connection was neither answered nor closed');
}

/** The client goes away at each byte in turn, with and without a farewell. */
async function cutAt(one: Case, turn: number): Promise<void> {
  const body = JSON.stringify({ data: { a: one.world.secretMark } });
  const bytes = bytesOf(request(one.world.side.privateKey, 'POST', '/tokens', body));
  const after = Math.floor(turn / bytes.length) % 2 === 0 ? 'abort' : 'end';
  const outcome = await one.raw({ bytes: bytes.subarray(0, 1 + (turn % bytes.length)), after });
  one.check(outcome.isClosed, 'the connection was neither answered nor closed');
}

/** Requests for which Node hands out the bare socket. */
const BARE = [
  'CONNECT example.com:443 HTTP/1.1\r\nHost: fuzz\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: fuzz\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
  'GET /healthz HTTP/1.1\r\nHost: fuzz\r\n\r\nCONNECT x HTTP/1.1\r\n\r\n',
];

/** The client resets the connection at each byte in turn. A reset that no handler takes would end the product. */
async function resetAt(one: Case, turn: number): Promise<void> {
  const { random, world } = one;
  const shape = random.oneIn(3) ? random.pick(ODD)(world.side.privateKey, random) : (BARE[turn % BARE.length] ?? '');
  const bytes = Buffer.from(shape, 'latin1');
  const at = random.oneIn(2) ? bytes.length : 1 + (turn % bytes.length);
  await one.raw({ bytes: bytes.subarray(0, at), after: 'reset' });
  const answer = await one.call(undefined, 'GET', '/healthz');
  one.check(answer.status === 200, 'the product does not answer after a reset');
}

async function sendPipelined(one: Case): Promise<void> {
  const { random } = one;
  const count = 2 + random.below(8);
  const requests = Array.from({ length: count }, () => validRequest(one));
  one.count(count - 1);
  const isBroken = random.oneIn(2);
  const bytes = Buffer.concat([...requests, ...(isBroken ? [random.bytes(30)] : [])]);
  const outcome = await one.raw({
    bytes,
    after: 'settle',
    settleMs: HANG_MS / 2,
    wanted: count,
    pieces: 1 + random.below(5),
  });
  one.check(outcome.isClosed, 'the connection was neither answered nor closed');
  one.check(outcome.answers.length <= count + 1, `${outcome.answers.length} answers to ${count} requests`);
  if (!isBroken) one.check(outcome.answers.length === count, `${outcome.answers.length} answers to ${count} requests`);
}

function mutated(bytes: Buffer, random: Random): Buffer {
  let made: Buffer = Buffer.from(bytes);
  for (let left = 1 + random.below(4); left > 0; left -= 1) {
    const at = random.below(made.length);
    const before = made.subarray(0, at);
    switch (random.below(6)) {
      case 0:
        made[at] = random.below(256);
        break;
      case 1:
        made = Buffer.concat([before, made.subarray(at + 1 + random.below(5))]);
        break;
      case 2:
        made = Buffer.concat([before, random.bytes(1 + random.below(8)), made.subarray(at)]);
        break;
      case 3:
        made = Buffer.concat([before, made.subarray(random.below(made.length))]);
        break;
      case 4:
        made = Buffer.concat([
          made.subarray(0, at),
          Buffer.from(random.pick(['\r\n', '\n', '\r', '\0', ' ', ':'])),
          made.subarray(at),
        ]);
        break;
      default:
        made[at] = (made[at] ?? 0) ^ (1 << random.below(8));
    }
    if (made.length === 0) made = random.bytes(4);
  }
  return made;
}
