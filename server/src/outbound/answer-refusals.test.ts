import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assertSameInEveryCut, seenAtOnce } from './answer-reader-fixture.js';

const OK = 'HTTP/1.1 200 OK\r\n';
const CHUNKED = `${OK}Transfer-Encoding: chunked\r\n\r\n`;
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const EMPTY = 'Content-Length: 0\r\n\r\n';

const BAD_STATUS_LINES = [
  ...['HTTP/0.9 200 OK', 'HTTP/2.0 200 OK', 'HTTP/1.2 200 OK', 'HTTP/1.10 200 OK', 'HTTP/11 200 OK', 'HTTP/1.1200 OK'],
  ...['http/1.1 200 OK', ' HTTP/1.1 200 OK', '\r\nHTTP/1.1 200 OK', 'HTTP/1.1  200 OK', 'HTTP/1.1\t200 OK', 'HTTP/1.1'],
  ...[
    'HTTP/1.1 ',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 -20 OK',
    'HTTP/1.1 +20',
    'HTTP/1.1 2x0',
    'HTTP/1.1 200OK',
  ],
  ...[
    'HTTP/1.1 099 OK',
    'HTTP/1.1 000 OK',
    'HTTP/1.1 \xb2\xb2\xb2',
    'HTTP/1.1 200\tOK',
    'HTTP/1.1 200 a\rb',
    'HTTP/1.1 200 a\nb',
  ],
  ...[
    'HTTP/1.1 200 a\0b',
    'HTTP/1.1 200 a\x7f',
    'SSH-2.0-OpenSSH_9.2',
    '<html>',
    '',
    'HTTP/1.1 200 OK\n',
    'ICY 200 OK',
  ],
];

const BAD_HEADERS = [
  ...[
    'X',
    ': x',
    ' : x',
    'X : x',
    'X\t: x',
    ' X: x',
    '\tX: x',
    'A: 1\r\n folded',
    'A: 1\r\n\tfolded',
    'X y: z',
    'X\xe9: z',
  ],
  ...[
    'A: 1\nB: 2',
    'A: 1\rB: 2',
    'A: 1\n',
    'A: 1\r',
    '\rA: 1',
    '\nA: 1',
    'A: \0',
    'A\0: 1',
    'A: \x01',
    'A: \x7f',
    'A: \v1',
    'A(b): 1',
  ],
  ...['A: 1\r\r', 'A"b: 1', 'A/b: 1', 'A;b: 1', 'A@b: 1', '{a}: 1'],
];

const BAD_LENGTHS = [
  ...['', '+5', '-5', '-0', '0x5', '5x', '5 5', '5,5', '5, 5', '5;', '5.0', '5e0', 'x', '\xb2', '1234567890123456'],
  ...['99999999999999999999999999', '\t5', '5\t', '"5"', '\xd9\xa5', 'Infinity', 'NaN', '_5', '5_0'],
];

const BAD_ENCODINGS = [
  ...[
    '',
    'gzip',
    'identity',
    'gzip, chunked',
    'chunked, gzip',
    'chunked, chunked',
    'chunked,',
    ',chunked',
    'x-chunked',
  ],
  ...['chunked;a=b', '"chunked"', 'chunked\t', '\tchunked', 'chun ked', 'chunke', 'chunkedx', '\xe7hunked'],
];

const BAD_FRAMING = [
  'Content-Length: 5\r\nContent-Length: 5',
  'Content-Length: 5\r\ncontent-length: 6',
  'Content-Length: 5\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: gzip\r\nContent-Length: 5',
];

const BAD_CHUNKS = [
  ...[
    '\r\n',
    ' \r\n',
    '-1\r\n',
    '+1\r\n',
    '0x1\r\n',
    'g\r\n',
    '1 \r\n',
    ' 1\r\n',
    '1\t\r\n',
    '1 ;a\r\n',
    '1.0\r\n',
    '\xb2\r\n',
  ],
  ...[
    '0000000000001\r\n',
    'fffffffffffff\r\n',
    'ffffffffffffffff1\r\n',
    '1,1\r\n',
    '1\n\r\n',
    '1\r\r\n',
    '1\0\r\n',
    '-0\r\n',
  ],
  ...[
    '1;\r\n',
    '1;;a\r\n',
    '1;a=\r\n',
    '1;=b\r\n',
    '1; a\r\n',
    '1;a b\r\n',
    '1;a="b\r\n',
    '1;a\n\r\n',
    '1;a\rb\r\n',
    '1;a="\0"\r\n',
  ],
  ...[
    '1;a=b"c"\r\n',
    '1;\xe9\r\n',
    '1\r\nab\r\n',
    '1\r\na\n',
    '1\r\na\rx',
    '1\r\na0\r\n',
    '1\r\na \r\n',
    '1\r\na\r\r\n',
    '1\r\na\r\n\r\n',
  ],
];

const BAD_TRAILERS = [
  ...[
    'X',
    ': x',
    'X : x',
    ' X: x',
    'A: 1\r\n folded',
    'A: 1\nB: 2',
    'A: 1\rB: 2',
    'A: \0',
    '\n',
    '\r',
    'HTTP/1.1 200 OK',
  ],
  ...['Content-Length: 5', 'content-length: 0', 'Transfer-Encoding: chunked', 'transfer-encoding:'],
];

const BAD_IN_FRONT = [
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  'HTTP/1.1 101 x\r\n\r\n',
  'HTTP/1.1 100 x\r\nConnection: close\r\n\r\n',
  'HTTP/1.0 100 x\r\n\r\n',
  'HTTP/1.1 100 x\r\nA\r\n\r\n',
  'HTTP/1.1 100 x\r\nContent-Length: x\r\n\r\n',
  'HTTP/1.1 100 x\r\nTransfer-Encoding: gzip\r\n\r\n',
  `${CONTINUE}\r\n`,
  `${CONTINUE}x`,
];

describe('answers that are refused, however they are cut', () => {
  const refused: readonly (readonly [string, readonly string[]])[] = [
    ['status lines', BAD_STATUS_LINES.map((line) => `${line}\r\n${EMPTY}`)],
    [
      'headers',
      BAD_HEADERS.flatMap((line) => [`${OK}${line}\r\n${EMPTY}`, `${OK}Content-Length: 0\r\n${line}\r\n\r\n`]),
    ],
    ['lengths', BAD_LENGTHS.map((length) => `${OK}Content-Length: ${length}\r\n\r\nhello`)],
    ['encodings', BAD_ENCODINGS.map((name) => `${OK}Transfer-Encoding: ${name}\r\n\r\n0\r\n\r\n`)],
    ['an older version in chunks', ['HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n']],
    ['what frames a message twice', BAD_FRAMING.map((lines) => `${OK}${lines}\r\n\r\n0\r\n\r\n`)],
    ['chunks', BAD_CHUNKS.map((chunk) => `${CHUNKED}3\r\nabc\r\n${chunk}`)],
    ['trailers', BAD_TRAILERS.map((line) => `${CHUNKED}0\r\n${line}\r\n\r\n`)],
    ['what stands in front', BAD_IN_FRONT.map((text) => `${text}${OK}${EMPTY}`)],
  ];
  for (const [what, texts] of refused) {
    it(what, () => {
      for (const text of texts) {
        const seen = seenAtOnce(text);
        assert.equal(seen.end, 'bad_answer', JSON.stringify(text));
        assertSameInEveryCut(text, undefined, seen);
      }
    });
  }

  it('where there is no body, what frames one is held to the same', () => {
    for (const lines of [...BAD_FRAMING, 'Content-Length: x', 'Transfer-Encoding: gzip']) {
      assert.equal(seenAtOnce(`${OK}${lines}\r\n\r\n`, { method: 'HEAD' }).end, 'bad_answer', lines);
      for (const status of [204, 304])
        assert.equal(seenAtOnce(`HTTP/1.1 ${status} x\r\n${lines}\r\n\r\n`).end, 'bad_answer', lines);
    }
  });
});
