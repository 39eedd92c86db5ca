import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import { AppError, storageUnavailable } from '../../kernel/errors.js';
import { eventually } from '../../testing/eventually.js';
import { DriverFault } from '../faults.js';
import { ServerWatch } from './server-watch.js';

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'storage_unavailable';

/** Tenants are named by their server and a number. */
describe('the watch over the servers of a cluster', () => {
  let dead: Set<string>;
  let probes: string[];
  let watch: ServerWatch;
  beforeEach(() => {
    dead = new Set();
    probes = [];
    watch = new ServerWatch({
      clock: systemClock,
      findServer: async (tenantId) => tenantId[0],
      probe: async (tenantId) => {
        probes.push(tenantId);
        if (dead.has(tenantId[0] ?? '')) throw new Error('silence');
      },
      answerMaxMs: 1_000,
    });
  });
  afterEach(() => watch.close());

  const fail = async (tenantId: string, failure: unknown): Promise<void> =>
    (await watch.enter(tenantId)).leave(failure);
  const fault = (): AppError => storageUnavailable(new DriverFault(new Error('timeout')));

  it('503 at once for tenants of a server that does not answer, and none for others, until it answers again', async () => {
    dead.add('a');
    await fail('a1', fault());
    await eventually('it is noticed', () => watch.downCount() === 1);
    for (const tenantId of ['a1', 'a2']) await assert.rejects(watch.enter(tenantId), isUnavailable);
    (await watch.enter('b1')).leave();
    dead.clear();
    await eventually('it is asked again', () => watch.downCount() === 0);
    (await watch.enter('a1')).leave();
  });

  it('a server that answers is not left alone for the failure of a statement', async () => {
    await fail('a1', fault());
    await eventually('it was asked', () => probes.length === 1);
    (await watch.enter('a1')).leave();
    assert.equal(watch.downCount(), 0);
  });

  it('nobody is asked for a failure that is of the work itself, nor where all went well', async () => {
    await fail('a1', new AppError('not_found', 'There is no such token.'));
    await fail('a1', undefined);
    (await watch.enter('a1')).leave();
    assert.deepEqual(probes, []);
  });

  it('of many failures at once a server is asked once', async () => {
    dead.add('a');
    await Promise.all(Array.from({ length: 20 }, (_, n) => fail(`a${n}`, fault())));
    await eventually('it is noticed', () => watch.downCount() === 1);
    assert.equal(probes.length, 1);
  });

  it('silence for half a second is enough; what waits for it is given up, and nothing else', async () => {
    dead.add('a');
    const given: string[] = [];
    const enter = async (tenantId: string) => {
      const visit = await watch.enter(tenantId);
      visit.onSilence(() => given.push(tenantId));
      return visit;
    };
    const visits = [await enter('a1'), await enter('a2'), await enter('b1'), await enter('a3')];
    visits[3]?.leave();
    await eventually('it is noticed', () => watch.downCount() === 1 && given.length > 1);
    assert.deepEqual(given, ['a1', 'a2']);
    await assert.rejects(watch.enter('a2'), isUnavailable);
    for (const visit of visits) visit.leave();
  });

  it('what the coordinator refuses says nothing about a server, and work that comes late to its connection is given up', async () => {
    const full = Object.assign(new Error('too many connections'), { code: '53300', severity: 'FATAL' });
    const asked = new ServerWatch({
      clock: systemClock,
      findServer: async (tenantId) => tenantId[0],
      probe: () => Promise.reject(storageUnavailable(new DriverFault(full))),
      answerMaxMs: 1_000,
    });
    (await asked.enter('a1')).leave(fault());
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(asked.downCount(), 0);
    asked.close();
    dead.add('a');
    const late = await watch.enter('a1');
    await eventually('it is noticed', () => watch.downCount() === 1);
    await new Promise((resolve) => setImmediate(resolve));
    let isGivenUp = false;
    late.onSilence(() => {
      isGivenUp = true;
    });
    assert.equal(isGivenUp, true);
    late.leave();
  });

  it('where a tenant is cannot be found out, it is served as before', async () => {
    const blind = new ServerWatch({
      clock: systemClock,
      findServer: () => Promise.reject(new Error('no such function')),
      probe: () => Promise.reject(new Error('never asked')),
      answerMaxMs: 1_000,
    });
    (await blind.enter('a1')).leave(fault());
    (await blind.enter('a1')).leave();
    assert.equal(blind.downCount(), 0);
    blind.close();
  });

  it('a server is confirmed that answers, and 503 for one that does not, which is then known', async () => {
    await watch.confirm('a1');
    assert.deepEqual(probes, ['a1']);
    dead.add('a');
    await assert.rejects(watch.confirm('a2'), isUnavailable);
    assert.equal(watch.downCount(), 1);
    await watch.confirm('b1');
    await assert.rejects(watch.confirm('a1'), isUnavailable);
  });

  it('a question that stays open is the only one, and its end is where the next one begins', async () => {
    const asked = { a: 0, b: 0 };
    let answer = (): void => {};
    const held = new ServerWatch({
      clock: systemClock,
      findServer: async (tenantId) => tenantId[0],
      probe: (tenantId) => {
        const server = tenantId.startsWith('a') ? 'a' : 'b';
        asked[server] += 1;
        if (server === 'b') return Promise.reject(new Error('silence'));
        if (asked.a > 1) return Promise.resolve();
        return new Promise<void>((resolve) => {
          answer = resolve;
        });
      },
      answerMaxMs: 10,
    });
    (await held.enter('a1')).leave(fault());
    (await held.enter('b1')).leave(fault());
    // The other server is asked again after each rest.
    await eventually('a rest is over', () => asked.b === 3);
    assert.equal(held.downCount(), 2);
    assert.equal(asked.a, 1);
    answer();
    await eventually('it answers again', () => held.downCount() === 1);
    assert.equal(asked.a, 2);
    held.close();
  });
});
