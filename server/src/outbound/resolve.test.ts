import assert from 'node:assert/strict';
import type { RemoteInfo, Socket } from 'node:dgram';
import { createSocket } from 'node:dgram';
import { after, before, describe, it } from 'node:test';
import { eventually } from '../testing/eventually.js';
import type { ResolveName } from './resolve.js';
import { createNameResolver } from './resolve.js';

const A = 1;
const AAAA = 28;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

/** Addresses as bytes, by type; a number is the code of a failure; undefined is silence. */
const ZONE: Readonly<Record<string, Readonly<Record<number, readonly (readonly number[])[] | number>>>> = {
  'both.test': {
    [A]: [
      [192, 0, 2, 1],
      [192, 0, 2, 2],
    ],
    [AAAA]: [[0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]],
  },
  'four.test': { [A]: [[192, 0, 2, 4]], [AAAA]: [] },
  'half.test': { [A]: [[192, 0, 2, 5]], [AAAA]: SERVER_FAILURE },
  'gone.test': { [A]: NAME_ERROR, [AAAA]: NAME_ERROR },
  'silent.test': {},
};

/** A name server that answers on loopback, and remembers what it was asked. */
describe('names', () => {
  let server: Socket;
  let resolve: ResolveName;
  const asked: string[] = [];
  before(async () => {
    server = createSocket('udp4');
    server.on('message', (question, from) => answer(server, question, from, asked));
    await new Promise<void>((resolveBound) => server.bind(0, '127.0.0.1', resolveBound));
    resolve = createNameResolver({ servers: [`127.0.0.1:${server.address().port}`], tryMs: 60_000, tries: 1 });
  });
  after(() => server.close());

  const signal = new AbortController().signal;

  for (const [name, addresses] of [
    ['both.test', ['192.0.2.1', '192.0.2.2', '2001:db8::7']],
    ['four.test', ['192.0.2.4']],
    ['half.test', ['192.0.2.5']],
    ['gone.test', []],
  ] as const) {
    it(`${name} has ${addresses.join(', ') || 'no address'}: one question for each family, the name as it is`, async () => {
      asked.length = 0;
      assert.deepEqual(await resolve(name, { isNamed: false, signal }), addresses);
      assert.deepEqual(asked.toSorted(), [`${name} ${A}`, `${name} ${AAAA}`]);
    });
  }

  it('are asked of DNS alone: the hosts file of this machine has localhost, DNS has not', async () => {
    assert.deepEqual(await resolve('localhost', { isNamed: false, signal }), []);
    const named = await resolve('localhost', { isNamed: true, signal });
    assert.ok(named.length > 0 && named.every((address) => address === '127.0.0.1' || address === '::1'), named.join());
  });

  it('are given up when the caller does', async () => {
    const caller = new AbortController();
    asked.length = 0;
    const call = resolve('silent.test', { isNamed: false, signal: caller.signal });
    await eventually('it is asked', () => asked.length === 2);
    caller.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
    await assert.rejects(resolve('both.test', { isNamed: false, signal: caller.signal }), /enough/);
  });
});

const HEADER_BYTES = 12;

function answer(server: Socket, question: Buffer, { port, address }: RemoteInfo, asked: string[]): void {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = question.readUInt16BE(at + 1);
  const name = labels.join('.').toLowerCase();
  asked.push(`${name} ${type}`);
  const found = name in ZONE ? ZONE[name]?.[type] : NAME_ERROR;
  if (found === undefined) return;
  const records = typeof found === 'number' ? [] : found;
  const head = Buffer.from(question.subarray(0, HEADER_BYTES));
  head.writeUInt16BE(0x8180 | (typeof found === 'number' ? found : 0), 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  // Name by reference, type, class, 60 s, length.
  const answers = records.map((bytes) =>
    Buffer.from([0xc0, HEADER_BYTES, 0, type, 0, 1, 0, 0, 0, 60, 0, bytes.length, ...bytes]),
  );
  server.send(Buffer.concat([head, question.subarray(HEADER_BYTES, at + 5), ...answers]), port, address);
}
