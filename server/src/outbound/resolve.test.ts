import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { NameAnswer, NameServer } from '@strongroom/test-servers/name-server.js';
import { A, AAAA, NAME_ERROR, SERVER_FAILURE, startNameServer } from '@strongroom/test-servers/name-server.js';
import { eventually } from '../testing/eventually.js';
import type { ResolveName } from './resolve.js';
import { createNameResolver } from './resolve.js';

const ZONE: Readonly<Record<string, Readonly<Record<number, NameAnswer>>>> = {
  'both.test': { [A]: ['192.0.2.1', '192.0.2.2'], [AAAA]: ['2001:db8::7'] },
  'four.test': { [A]: ['192.0.2.4'], [AAAA]: [] },
  'half.test': { [A]: ['192.0.2.5'], [AAAA]: SERVER_FAILURE },
  'gone.test': { [A]: NAME_ERROR, [AAAA]: NAME_ERROR },
  'silent.test': {},
};

describe('names', () => {
  let server: NameServer;
  let resolve: ResolveName;
  before(async () => {
    server = await startNameServer((name, type) => (name in ZONE ? ZONE[name]?.[type] : NAME_ERROR));
    resolve = createNameResolver({ servers: [`127.0.0.1:${server.port}`], tryMs: 60_000, tries: 1 });
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
      server.asked.length = 0;
      assert.deepEqual(await resolve(name, { isNamed: false, signal }), addresses);
      assert.deepEqual(server.asked.toSorted(), [`${name} ${A}`, `${name} ${AAAA}`]);
    });
  }

  it('are asked of DNS alone: the hosts file of this machine has localhost, DNS has not', async () => {
    assert.deepEqual(await resolve('localhost', { isNamed: false, signal }), []);
    const named = await resolve('localhost', { isNamed: true, signal });
    assert.ok(named.length > 0 && named.every((address) => address === '127.0.0.1' || address === '::1'), named.join());
  });

  it('are given up when the caller does', async () => {
    const caller = new AbortController();
    server.asked.length = 0;
    const call = resolve('silent.test', { isNamed: false, signal: caller.signal });
    await eventually('it is asked', () => server.asked.length === 2);
    caller.abort(new Error('enough'));
    await assert.rejects(call, /enough/);
    await assert.rejects(resolve('both.test', { isNamed: false, signal: caller.signal }), /enough/);
  });
});
