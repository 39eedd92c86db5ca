import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { readInPieces } from './answer-reader-fixture.js';
import type { Listening } from './outbound-fixture.js';
import { rawServer } from './outbound-fixture.js';

const SEED = 20_261_118;
const CASES = 800;
const OPEN_MAX = 8;

/** What both read alike. */
const HONEST: readonly string[] = [
  'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n',
  'HTTP/1.1 404\r\nX-Empty:\r\nContent-Length:  2 \r\n\r\nno',
  'HTTP/1.1 200 OK\r\nX-A: \t a b\tc \r\nx-a: 2\r\nX-Bytes: \xe9\xff\x80\r\nContent-Length: 3\r\n\r\n\0\r\n',
  'HTTP/1.0 200 OK\r\nServer: old\r\n\r\nuntil it closes',
  'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nuntil it closes\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nTrailer: X-T\r\n\r\n00A\r\n0123456789\r\n9\r\n\r\n\r\n0\r\n\r\n\r\n0\r\nX-T: 1\r\n\r\n',
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b;c="d e";f\r\nhello\r\n0;last\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 204 No Content\r\nX: y\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 700\r\n\r\n',
  'HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 599 \xe9\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 1\r\n\r\n.',
];

const HOSTILE_BYTES = '\0\x01\t\n\v\r !"%&+,-./0189:;<=>@AFGZ[\\]afgz{|}~\x7f\x80\x85\xa0\xff';
const HOSTILE_PARTS: readonly string[] = [
  ...['\r\n', '\n', '\r', '\r\n\r\n', '\n\n', ' ', '\t', '\r\n ', '\r\n\t', '0', '-', '+', '0x', ',', ';', ':', '"'],
  ...[
    'Content-Length: 3\r\n',
    'Content-Length: 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: gzip\r\n',
  ],
  ...['Transfer-Encoding: identity\r\n', 'Connection: close\r\n', 'Connection: upgrade\r\nUpgrade: x\r\n', 'A: b\r\n'],
  ...['0\r\n\r\n', '1\r\nx\r\n', ';a', ';a=b', ';=', ';"', ' ;', 'HTTP/1.1 200 OK\r\n\r\n', 'HTTP/1.1 100 \r\n\r\n'],
  ...['Content-Length\r\n', 'Content-Length : 1\r\n', ': x\r\n', 'chunked', 'HTTP/1.0', '204', '304', '099', '101'],
];

/** mulberry32: small, and good enough to spread places. */
function createChoice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

function mutated(text: string, choose: (below: number) => number): string {
  const at = choose(text.length + 1);
  const [front, behind] = [text.slice(0, at), text.slice(at)];
  const lines = text.split('\r\n');
  const [one, other] = [choose(lines.length), choose(lines.length)];
  const ways: readonly (() => string)[] = [
    () => front + String.fromCharCode((behind.charCodeAt(0) ^ (1 << choose(8))) & 0xff) + behind.slice(1),
    () => front + HOSTILE_BYTES.charAt(choose(HOSTILE_BYTES.length)) + behind.slice(1),
    () => front + HOSTILE_BYTES.charAt(choose(HOSTILE_BYTES.length)) + behind,
    () => front + HOSTILE_PARTS[choose(HOSTILE_PARTS.length)] + behind,
    () =>
      [
        ...lines.slice(0, one),
        HOSTILE_PARTS[choose(HOSTILE_PARTS.length)] + (lines[one] ?? ''),
        ...lines.slice(one + 1),
      ].join('\r\n'),
    () => front + behind.slice(1 + choose(4)),
    () => front + behind.slice(0, 1 + choose(8)) + behind,
    () => lines.map((line, index) => (index === one ? lines[other] : index === other ? lines[one] : line)).join('\r\n'),
    () => [...lines.slice(0, one), lines[other], ...lines.slice(one)].join('\r\n'),
    () => lines.filter((_line, index) => index !== one).join('\r\n'),
    () => front,
  ];
  return ways[choose(ways.length)]?.() ?? text;
}

function hostileAnswers(seed: number, count: number): string[] {
  const choose = createChoice(seed);
  return Array.from({ length: count }, () => {
    let text = HONEST[choose(HONEST.length)] ?? '';
    for (let left = 1 + choose(3); left > 0; left -= 1) text = mutated(text, choose);
    return text;
  });
}

/** As much of an answer as both tell. */
interface Told {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Undefined where the platform does not take it as a whole answer. What it says about bytes behind it is another matter. */
function readByPlatform(port: number, path: string, method: string): Promise<Told | undefined> {
  return new Promise((resolve) => {
    const outgoing = request({ port, host: '127.0.0.1', path, method, agent: false, maxHeaderSize: 65_536 });
    outgoing.maxHeadersCount = 0;
    let incoming: IncomingMessage | undefined;
    outgoing.once('response', (answer) => {
      incoming = answer;
      const body: Buffer[] = [];
      const told = (): void =>
        resolve(
          answer.complete
            ? {
                status: answer.statusCode ?? 0,
                headers: answer.rawHeaders,
                body: Buffer.concat(body).toString('latin1'),
              }
            : undefined,
        );
      answer
        .on('data', (piece: Buffer) => body.push(piece))
        .once('end', told)
        .once('error', told);
    });
    outgoing.once('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve(undefined);
    });
    outgoing.on('error', () => incoming ?? resolve(undefined));
    outgoing.end();
  });
}

function readByUs(text: string, method: string): Told | undefined {
  const { end, head, body } = readInPieces([Buffer.from(text, 'latin1')], { method });
  if (end !== 'whole' || head === undefined) return undefined;
  return { status: head.status, headers: head.headers.flat(), body };
}

describe('an answer is read as the platform reads it, or refused', () => {
  let server: Listening;
  let answers: readonly string[] = [];
  before(async () => {
    server = await rawServer((socket, text) => {
      socket.end(Buffer.from(answers[Number(text.split(' ')[1]?.slice(1))] ?? '', 'latin1'));
    });
  });
  after(() => server.close());

  /** What both make of each answer, in order. */
  async function readByBoth(given: readonly string[], method: string) {
    answers = given;
    const platform: (Told | undefined)[] = [];
    let next = 0;
    const read = async (): Promise<void> => {
      for (let at = next++; at < given.length; at = next++)
        platform[at] = await readByPlatform(server.port, `/${at}`, method);
    };
    await Promise.all(Array.from({ length: OPEN_MAX }, read));
    return given.map((text, at) => ({ text, at, ours: readByUs(text, method), platform: platform[at] }));
  }

  for (const method of ['GET', 'HEAD']) {
    it(`${method}: honest ones`, async () => {
      for (const { text, ours, platform } of await readByBoth(HONEST, method)) {
        assert.ok(ours, JSON.stringify(text));
        assert.deepEqual(ours, platform, JSON.stringify(text));
      }
    });

    it(`${method}: ${CASES} hostile ones`, async () => {
      let stricter = 0;
      let taken = 0;
      for (const { text, at, ours, platform } of await readByBoth(hostileAnswers(SEED, CASES), method)) {
        if (ours === undefined && platform !== undefined) stricter += 1;
        if (ours === undefined) continue;
        taken += 1;
        assert.deepEqual(ours, platform, `seed ${SEED}, answer ${at}: ${JSON.stringify(text)}`);
      }
      assert.ok(taken > CASES / 10, `of ${CASES} only ${taken} were answers: nothing is compared`);
      assert.ok(stricter < CASES / 2, `${stricter} of ${CASES} are refused here and taken by the platform`);
    });
  }
});
