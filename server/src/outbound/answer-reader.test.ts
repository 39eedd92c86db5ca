import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { AnswerHead } from './answer-head.js';
import { assertSameInEveryCut, readInPieces, seenAtOnce, singleBytes } from './answer-reader-fixture.js';
import type { OutboundFailure } from './outbound-error.js';

const FOREVER = Number.POSITIVE_INFINITY;
const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const EMPTY = 'Content-Length: 0\r\n\r\n';

/** What is expected of an answer, beside that it is whole. */
interface Expected extends Partial<AnswerHead> {
  readonly body?: string;
  readonly hasMore?: boolean;
  readonly method?: string;
}

type Rows<T> = readonly (readonly [what: string, text: string, expected: T])[];

const STATUS_LINES: Rows<Expected> = [
  ['a reason', `${OK}${EMPTY}`, { status: 200 }],
  ['no reason', `HTTP/1.1 404\r\n${EMPTY}`, { status: 404 }],
  ['an empty reason', `HTTP/1.1 404 \r\n${EMPTY}`, { status: 404 }],
  ['a reason with blanks, tabs and bytes above 0x7f', `HTTP/1.1 500 a\t b \xe9\xff\r\n${EMPTY}`, { status: 500 }],
  ['the older version, which closes', `HTTP/1.0 200 OK\r\n${EMPTY}`, { status: 200, keepMs: 0 }],
  ['a status nobody knows', `HTTP/1.1 799 x\r\n${EMPTY}`, { status: 799 }],
];

const HEADERS: Rows<AnswerHead['headers']> = [
  [
    'names as they are spelled',
    'x-a: 1\r\nX-A: 2\r\nX-a: 3\r\n',
    [
      ['x-a', '1'],
      ['X-A', '2'],
      ['X-a', '3'],
    ],
  ],
  ['every character of a name', "!#$%&'*+-.^_`|~09AZaz: 1\r\n", [["!#$%&'*+-.^_`|~09AZaz", '1']]],
  [
    'blanks and tabs around a value',
    'A: \t 1 \t \r\nB:2\r\n',
    [
      ['A', '1'],
      ['B', '2'],
    ],
  ],
  ['blanks and tabs within a value', 'A: 1 \t 2\r\n', [['A', '1 \t 2']]],
  [
    'values without a character',
    'A:\r\nB: \t\r\n',
    [
      ['A', ''],
      ['B', ''],
    ],
  ],
  ['colons in a value', 'A: b: c::\r\n', [['A', 'b: c::']]],
  ['bytes above 0x7f', 'A: \x80\xa0\xe9\xff\r\n', [['A', '\x80\xa0\xe9\xff']]],
  [
    'the name of an object',
    '__proto__: 1\r\nconstructor: 2\r\n',
    [
      ['__proto__', '1'],
      ['constructor', '2'],
    ],
  ],
];

const BODIES: Rows<Expected> = [
  ['counted', `${OK}Content-Length: 5\r\n\r\nhello`, { body: 'hello', framing: 'counted', bodyBytes: 5 }],
  ['counted, with zeros in front', `${OK}content-length: 005\r\n\r\nhello`, { body: 'hello', bodyBytes: 5 }],
  ['counted, with blanks around', `${OK}CONTENT-LENGTH:  5  \r\n\r\nhello`, { body: 'hello', bodyBytes: 5 }],
  ['counted as none', `${OK}${EMPTY}`, { body: '', framing: 'counted' }],
  ['bytes of every kind', `${OK}Content-Length: 6\r\n\r\n\0\r\n\r\n\xff`, { body: '\0\r\n\r\n\xff' }],
  ['to the end', `${OK}\r\nhello\r\n\r\n`, { body: 'hello\r\n\r\n', framing: 'to_the_end', keepMs: 0 }],
  ['to the end, which is at once', `${OK}\r\n`, { body: '', framing: 'to_the_end', keepMs: 0 }],
  ['to the end, older', 'HTTP/1.0 200 OK\r\n\r\nhello', { body: 'hello', framing: 'to_the_end', keepMs: 0 }],
  ['in chunks', `${CHUNKED}3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n`, { body: 'abcde', framing: 'chunked', keepMs: FOREVER }],
  ['in no chunk', `${CHUNKED}0\r\n\r\n`, { body: '' }],
  ['in chunks, otherwise spelled', `${OK}transfer-encoding:  CHUNKED \r\n\r\n1\r\na\r\n0\r\n\r\n`, { body: 'a' }],
  [
    'chunk sizes in either case',
    `${CHUNKED}a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n`,
    { body: '0123456789'.repeat(2) },
  ],
  ['chunk sizes with zeros in front', `${CHUNKED}000000000001\r\na\r\n0000\r\n\r\n`, { body: 'a' }],
  ['line ends within chunks', `${CHUNKED}4\r\n\r\n\r\n\r\n5\r\n0\r\n\r\n\r\n0\r\n\r\n`, { body: '\r\n\r\n0\r\n\r\n' }],
  ['extensions of chunks', `${CHUNKED}1;a;b=c;d="e ;\t=f"\r\nx\r\n0;last\r\n\r\n`, { body: 'x' }],
  [
    'trailers',
    `${CHUNKED}1\r\nx\r\n0\r\nA: 1\r\nB:\r\n\r\n`,
    { body: 'x', headers: [['Transfer-Encoding', 'chunked']] },
  ],
];

const WITHOUT_BODY: Rows<Expected> = [
  ['204', 'HTTP/1.1 204 No Content\r\n\r\n', { status: 204, keepMs: FOREVER }],
  ['204 with a length', 'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n', { status: 204 }],
  ['204 in chunks', 'HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n', { status: 204 }],
  ['304 with a length', 'HTTP/1.1 304 x\r\nContent-Length: 700\r\n\r\n', { status: 304 }],
  ['HEAD', `${OK}\r\n`, { method: 'HEAD', keepMs: FOREVER }],
  ['HEAD with a length', `${OK}Content-Length: 700\r\n\r\n`, { method: 'HEAD' }],
  ['HEAD in chunks', CHUNKED, { method: 'HEAD' }],
  ['204 with a body all the same', 'HTTP/1.1 204 x\r\nContent-Length: 1\r\n\r\na', { hasMore: true }],
  ['304 with a body all the same', 'HTTP/1.1 304 x\r\nContent-Length: 1\r\n\r\na', { hasMore: true }],
  ['HEAD with a body all the same', `${OK}Content-Length: 1\r\n\r\na`, { method: 'HEAD', hasMore: true }],
];

const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const IN_FRONT: Rows<Expected> = [
  ['100', `${CONTINUE}${OK}Content-Length: 1\r\n\r\na`, { status: 200, body: 'a' }],
  ['102 twice', `${'HTTP/1.1 102 x\r\n\r\n'.repeat(2)}HTTP/1.1 404 x\r\n${EMPTY}`, { status: 404 }],
  ['103 with headers', `HTTP/1.1 103 x\r\nLink: </x>\r\n\r\n${OK}${EMPTY}`, { headers: [['Content-Length', '0']] }],
  ['100 with a length that means nothing', `HTTP/1.1 100 x\r\nContent-Length: 9\r\n\r\n${OK}${EMPTY}`, { body: '' }],
  [
    '100 of a connection that is kept for a second',
    `HTTP/1.1 100 x\r\nKeep-Alive: timeout=1\r\n\r\n${OK}${EMPTY}`,
    { status: 200 },
  ],
  ['199', `HTTP/1.1 199 x\r\n\r\n${CHUNKED}1\r\na\r\n0\r\n\r\n`, { status: 200, body: 'a' }],
];

const CONNECTIONS: Rows<Expected> = [
  ['nothing said', `${OK}${EMPTY}`, { keepMs: FOREVER }],
  ['close', `${OK}Connection: close\r\n${EMPTY}`, { keepMs: 0 }],
  ['close, otherwise spelled', `${OK}CONNECTION:\tClose\r\n${EMPTY}`, { keepMs: 0 }],
  ['close among others', `${OK}Connection: x-a , close ,y\r\n${EMPTY}`, { keepMs: 0 }],
  ['close in the second of two', `${OK}Connection: keep-alive\r\nConnection: close\r\n${EMPTY}`, { keepMs: 0 }],
  ['a word that begins so', `${OK}Connection: closed, x-close\r\n${EMPTY}`, { keepMs: FOREVER }],
  ['a time', `${OK}Keep-Alive: timeout=5\r\n${EMPTY}`, { keepMs: 4_000 }],
  ['a time among others', `${OK}keep-alive: max=100, Timeout = "7"\r\n${EMPTY}`, { keepMs: 6_000 }],
  ['no time at all', `${OK}Keep-Alive: timeout=0\r\n${EMPTY}`, { keepMs: -1_000 }],
  ['what is no time', `${OK}Keep-Alive: timeout=x, mytimeout=3\r\n${EMPTY}`, { keepMs: FOREVER }],
  ['a time, and close', `${OK}Keep-Alive: timeout=5\r\nConnection: close\r\n${EMPTY}`, { keepMs: 0 }],
];

const BEHIND: Rows<Expected> = [
  ['a byte behind a counted body', `${OK}Content-Length: 1\r\n\r\nab`, { body: 'a', hasMore: true }],
  ['a byte behind no body', `${OK}${EMPTY}\r`, { body: '', hasMore: true }],
  ['a byte behind the chunks', `${CHUNKED}1\r\na\r\n0\r\n\r\n\n`, { body: 'a', hasMore: true }],
  ['another answer', `${OK}Content-Length: 1\r\n\r\na${OK}${EMPTY}`, { body: 'a', hasMore: true }],
];

describe('answers that are read, however they are cut', () => {
  for (const [what, text, expected] of [
    ...STATUS_LINES,
    ...BODIES,
    ...WITHOUT_BODY,
    ...IN_FRONT,
    ...CONNECTIONS,
    ...BEHIND,
  ]) {
    it(what, () => {
      const { method, hasMore = false, body = '', ...head } = expected;
      const seen = seenAtOnce(text, method === undefined ? {} : { method });
      assert.deepEqual([seen.end, seen.body, seen.hasMore], ['whole', body, hasMore]);
      assert.deepEqual({ ...seen.head, ...head }, seen.head);
      assertSameInEveryCut(text, method, seen);
    });
  }

  for (const [what, text, headers] of HEADERS) {
    it(what, () => {
      const seen = seenAtOnce(`${OK}${text}${EMPTY}`);
      assert.deepEqual([seen.end, seen.head?.headers], ['whole', [...headers, ['Content-Length', '0']]]);
      assertSameInEveryCut(`${OK}${text}${EMPTY}`, undefined, seen);
    });
  }

  for (const [what, text] of BODIES.filter(([what]) => !what.startsWith('to the end'))) {
    it(`${what}: nothing that is shorter is whole`, () => {
      for (let length = 0; length < text.length; length += 1)
        assert.equal(seenAtOnce(text.slice(0, length)).end, 'cut', `${length} bytes`);
    });
  }
});

describe('long answers', () => {
  const KIB_64 = 65_536;
  const filled = (front: string, length: number): string => front + 'x'.repeat(length - front.length);
  const long: Rows<'whole' | OutboundFailure> = [
    ['a head of 64 KiB', `${filled(`${OK}Content-Length: 0\r\nA: `, KIB_64 - 4)}\r\n\r\n`, 'whole'],
    ['a head of one more', `${filled(`${OK}Content-Length: 0\r\nA: `, KIB_64 - 3)}\r\n\r\n`, 'too_large'],
    ['a head without an end', filled(`${OK}A: `, KIB_64), 'too_large'],
    ['a status line without an end', filled('HTTP/1.1 200 ', KIB_64), 'too_large'],
    ['heads in front', `${CONTINUE.repeat(2_000)}${OK}${EMPTY}`, 'whole'],
    ['too many heads in front', `${CONTINUE.repeat(3_000)}${OK}${EMPTY}`, 'too_large'],
    ['trailers', `${CHUNKED}0\r\n${'a: b\r\n'.repeat(10_000)}\r\n`, 'whole'],
    ['too many trailers', `${CHUNKED}0\r\n${'a: b\r\n'.repeat(11_000)}\r\n`, 'too_large'],
    ['a trailer without an end', `${CHUNKED}0\r\n${filled('A: ', KIB_64)}`, 'too_large'],
    [
      'trailers behind a long head',
      `${filled(`${OK}Transfer-Encoding: chunked\r\nA: `, 60_000)}\r\n\r\n0\r\n${filled('A: ', 60_000)}\r\n\r\n`,
      'whole',
    ],
    ['a size line of 4 KiB', `${CHUNKED}${filled('1;', 4_094)}\r\na\r\n0\r\n\r\n`, 'whole'],
    ['a size line of one more', `${CHUNKED}${filled('1;', 4_095)}\r\na\r\n0\r\n\r\n`, 'too_large'],
    ['a size line without an end', `${CHUNKED}${'0'.repeat(4_096)}`, 'too_large'],
  ];
  for (const [what, text, end] of long) {
    it(`${what}: ${end}, at once and byte by byte`, () => {
      const seen = seenAtOnce(text);
      assert.equal(seen.end, end);
      assert.ok(isDeepStrictEqual(readInPieces(singleBytes(Buffer.from(text, 'latin1'))), seen), 'byte by byte');
    });
  }

  it('a body that comes while nobody wants any: nothing is lost, and all is in order', () => {
    const body = Array.from({ length: 3_000 }, (_, at) => String(at)).join(' ');
    const counted = `${OK}Content-Length: ${body.length}\r\n\r\n${body}`;
    const chunks = (body.match(/.{1,7}/g) ?? [])
      .map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`)
      .join('');
    for (const text of [counted, `${CHUNKED}${chunks}0\r\n\r\n`, `${OK}\r\n${body}`])
      for (const pieceBytes of [1, 2, 3, 5, 64, 1_000, 100_000]) {
        const bytes = Buffer.from(text);
        const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
          bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
        );
        for (const wantedEvery of [1, 2, 9, 1_000]) {
          const seen = readInPieces(pieces, { isHolding: true, wantedEvery });
          assert.deepEqual(
            [seen.end, seen.body],
            ['whole', body],
            `${pieceBytes} bytes, asked at each ${wantedEvery}.`,
          );
        }
      }
  });
});
