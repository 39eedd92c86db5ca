import type { Case, Part } from './part.js';
import { oneOf } from './part.js';
import type { Random } from './random.js';
import { bytesOf, request } from './request.js';

/** Every byte in the chunk of its own that it is cut into. */
function inChunks(bytes: Buffer, size: number): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    chunks.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

const TARGETS = [
  ['POST', '/tokens'],
  ['POST', '/tokenize'],
  ['POST', '/detokenize'],
  ['POST', '/tokens/search'],
  ['POST', '/v2/tokens/search'],
  ['PATCH', '/tokens/unknown'],
  ['POST', '/reactors/unknown/react'],
] as const;

/** Shapes whose values, members or braces cost more than their bytes. */
const DENSE: readonly ((random: Random) => string)[] = [
  () => `[${'1,'.repeat(400_000)}1]`,
  () => `{"data":[${'{},'.repeat(300_000)}{}]}`,
  () => `{"data":{${Array.from({ length: 80_000 }, (_, at) => `"k${at}":1`).join(',')}}}`,
  () => `{"data":{${Array.from({ length: 9_000 }, (_, at) => `"k${at}":"${'x'.repeat(90)}"`).join(',')}}}`,
  () => `{"data":[${'1.00000000000000000001e0,'.repeat(9_000)}1]}`,
  () => `{"data":"${'\\"'.repeat(400_000)}"}`,
  () => `{"data":"${'\\u0000'.repeat(150_000)}"}`,
  () =>
    `{"data":1,"mask":{${Array.from({ length: 4_000 }, (_, at) => `"m${at}":"{{ data | append: '${at}' }}"`).join(',')}}}`,
  () => `"${'{{ a }}'.repeat(100_000)}"`,
  () => `{"query":"","x":[${'[],'.repeat(200_000)}1]}`,
  (random) => `${random.text(1 + random.below(200_000), '[]{},:"\\ 1e')}`,
];

const CUT_SIZES = [1, 2, 7, 63, 64, 65, 1_000, 16_384];

/** Bodies of many values, many pieces or many bytes: taken or refused soon, and the connection ends in an orderly way. */
export const bodies: Part = {
  name: 'bodies',
  about: 'bodies of very many values, in chunks of a few bytes, far above their limits, and left in the middle',
  cases: { short: 120, long: 4_000 },
  width: 4,
  run: oneOf(sendDense, sendInChunks, sendTooLong, leaveInTheMiddle),
};

async function sendDense(one: Case): Promise<void> {
  const { random, world } = one;
  const [method, target] = random.pick(TARGETS);
  const body = random.pick(DENSE)(random).slice(0, 1_048_576);
  const key = random.oneIn(3) ? undefined : random.pick([world.side.privateKey, world.side.publicKey]);
  await one.call(key, method, target, body);
}

function chunked(one: Case): Buffer {
  const { random, world } = one;
  const [method, target] = random.pick(TARGETS);
  const sent = request(world.side.privateKey, method, target);
  const headers = [...sent.headers, ['Content-Type', 'application/json'], ['Transfer-Encoding', 'chunked']] as const;
  const length = random.pick([100, 3_000, 60_000]);
  const body = Buffer.from(`{"data":"${'a'.repeat(length)}"}`);
  return Buffer.concat([bytesOf({ ...sent, headers }), inChunks(body, random.pick(CUT_SIZES))]);
}

async function sendInChunks(one: Case): Promise<void> {
  const outcome = await one.raw({ bytes: chunked(one), after: 'settle' });
  one.check(outcome.isClosed, 'the connection was neither answered nor closed');
}

/** What comes behind the answer is dropped for a bounded time: the client always reads the answer. */
async function sendTooLong(one: Case): Promise<void> {
  const { random, world } = one;
  const [method, target] = random.pick(TARGETS);
  const sent = request(world.side.privateKey, method, target, ' '.repeat(6_000_000));
  const outcome = await one.raw({ bytes: bytesOf(sent), after: 'wait' });
  const [answer] = outcome.answers;
  one.check(answer?.status === 413, `a body far above its limit is told ${answer?.status}`);
}

async function leaveInTheMiddle(one: Case): Promise<void> {
  const bytes = chunked(one);
  const after = one.random.pick(['abort', 'end', 'reset'] as const);
  await one.raw({ bytes: bytes.subarray(0, 1 + one.random.below(bytes.length)), after });
  const answer = await one.call(undefined, 'GET', '/healthz');
  one.check(answer.status === 200, 'the product does not answer after a body that was left');
}
