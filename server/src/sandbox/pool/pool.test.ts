import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { systemClock } from '../../kernel/clock.js';
import type { Deferred } from '../../kernel/deferred.js';
import { createDeferred } from '../../kernel/deferred.js';
import { eventually } from '../../testing/eventually.js';
import type { PreparedRun } from '../engine/prepared-run.js';
import type { CodeVersion, RunOutcome } from '../run.js';
import type { PooledInstance, PoolOptions } from './pool.js';
import { Pool, PoolFullError, StartError } from './pool.js';

const INPUT: PreparedRun = { body: Buffer.alloc(0), origin: { traceId: undefined, sourceAddress: undefined } };
const PREPARE = () => Promise.resolve(INPUT);
const BOUNDS = { deadlineMs: 1_000 };
const RETURNED: RunOutcome = { outcome: 'returned', value: null, console: [] };

/** A process of the test: a run lasts until the test ends it. */
class FakeInstance implements PooledInstance {
  /** Of no process, so that none has its priority changed. */
  readonly enginePid = 0;
  readonly #end = createDeferred<void>();
  readonly ended = this.#end.promise;
  isUsable = true;
  code: CodeVersion | undefined;
  runs = 0;
  underWay: Deferred<RunOutcome> | undefined;

  run(): Promise<RunOutcome> {
    this.runs += 1;
    const run = createDeferred<RunOutcome>();
    this.underWay = run;
    return run.promise;
  }

  /** The run under way ends. */
  finish(outcome: RunOutcome = RETURNED): void {
    if (outcome.outcome === 'timeout') this.kill();
    this.underWay?.resolve(outcome);
    this.underWay = undefined;
  }

  kill(): void {
    this.isUsable = false;
    this.#end.resolve();
  }
}

const code = (tenantId: string, ownerId = 'o', version = '1'): CodeVersion => ({
  tenantId,
  ownerId,
  version,
  code: '',
  applicationId: undefined,
});

describe('the pool', () => {
  const pools: Pool<FakeInstance>[] = [];
  after(() => Promise.all(pools.map((pool) => pool.close())));

  function open(options: Partial<PoolOptions<FakeInstance>> = {}) {
    const made: FakeInstance[] = [];
    const pool = new Pool<FakeInstance>({
      startInstance: async () => {
        const instance = new FakeInstance();
        made.push(instance);
        return instance;
      },
      load: async (instance, loaded) => {
        instance.code = loaded;
      },
      instancesMax: 4,
      instancesPerTenantMax: 2,
      blanks: 0,
      waitMs: 60_000,
      waitingMax: 8,
      waitingPerTenantMax: 4,
      idleMs: 60_000,
      callsMax: 1_000,
      clock: systemClock,
      onFault: () => {},
      ...options,
    });
    pools.push(pool);
    const busy = () => made.filter(({ underWay }) => underWay !== undefined);
    const untilBusy = (count: number) => eventually(`${count} runs`, () => busy().length === count);
    return { pool, made, busy, untilBusy };
  }

  it('runs a version again where it ran before, and another version elsewhere', async () => {
    const { pool, made, untilBusy, busy } = open();
    for (const version of ['1', '1', '2', '1']) {
      const run = pool.run(code('a', 'o', version), PREPARE, BOUNDS);
      await untilBusy(1);
      busy()[0]?.finish();
      assert.deepEqual((await run).outcome, RETURNED);
    }
    assert.deepEqual(
      made.map(({ code: loaded, runs }) => [loaded?.version, runs]),
      [
        ['1', 3],
        ['2', 1],
      ],
    );
    assert.equal(pool.figures().coldStarts, 2);
  });

  it('gives two calls at once an instance each, and keeps one of them', async () => {
    const { pool, made, untilBusy, busy } = open();
    const runs = [pool.run(code('a'), PREPARE, BOUNDS), pool.run(code('a'), PREPARE, BOUNDS)];
    await untilBusy(2);
    for (const instance of busy()) instance.finish();
    await Promise.all(runs);
    assert.deepEqual(made.map(({ isUsable }) => isUsable).sort(), [false, true]);
    assert.equal(pool.figures().instances, 1);
  });

  it('bounds a tenant, lets the next call have the instance that is free, and tenants wait in turn', async () => {
    const { pool, busy, untilBusy } = open({ instancesMax: 3 });
    const order: string[] = [];
    const run = (tenantId: string) =>
      pool.run(code(tenantId), PREPARE, BOUNDS).then(() => {
        order.push(tenantId);
      });
    const first = [run('a'), run('a'), run('a'), run('a'), run('b'), run('b')];
    await untilBusy(3);
    assert.deepEqual(
      busy()
        .map(({ code: loaded }) => loaded?.tenantId)
        .sort(),
      ['a', 'a', 'b'],
    );
    assert.equal(pool.figures().waiting, 3);
    for (let left = 6; left > 0; left -= 1) {
      busy()[0]?.finish();
      await eventually('the next', () => order.length === 7 - left && busy().length === Math.min(3, left - 1));
    }
    await Promise.all(first);
    assert.deepEqual([...order].sort(), ['a', 'a', 'a', 'a', 'b', 'b']);
  });

  it('ends an instance that waits for calls when another tenant needs its place', async () => {
    const { pool, made, busy, untilBusy } = open({ instancesMax: 1 });
    const first = pool.run(code('a'), PREPARE, BOUNDS);
    await untilBusy(1);
    busy()[0]?.finish();
    await first;
    const second = pool.run(code('b'), PREPARE, BOUNDS);
    await untilBusy(1);
    assert.deepEqual(
      made.map(({ isUsable, code: loaded }) => [loaded?.tenantId, isUsable]),
      [
        ['a', false],
        ['b', true],
      ],
    );
    busy()[0]?.finish();
    await second;
  });

  it('uses no instance again whose run was ended by force', async () => {
    const { pool, made, busy, untilBusy } = open({ instancesPerTenantMax: 1 });
    const first = pool.run(code('a'), PREPARE, BOUNDS);
    const second = pool.run(code('a'), PREPARE, BOUNDS);
    await untilBusy(1);
    busy()[0]?.finish({ outcome: 'timeout' });
    assert.deepEqual((await first).outcome, { outcome: 'timeout' });
    await untilBusy(1);
    assert.equal(made.length, 2);
    busy()[0]?.finish();
    assert.deepEqual(await second, { outcome: RETURNED, isCold: true });
  });

  it('refuses a call that waited too long, and all of them when it closes', async () => {
    const { pool, untilBusy } = open({ instancesMax: 1, waitMs: 1 });
    const running = pool.run(code('a'), PREPARE, BOUNDS);
    await untilBusy(1);
    await assert.rejects(pool.run(code('a'), PREPARE, BOUNDS), PoolFullError);
    const { pool: other, untilBusy: untilOther } = open({ instancesMax: 1 });
    void other.run(code('a'), PREPARE, BOUNDS);
    await untilOther(1);
    const waiting = assert.rejects(other.run(code('b'), PREPARE, BOUNDS), PoolFullError);
    await other.close();
    await waiting;
    void running;
  });

  it('serves a tenant that waits although others never stop calling', async () => {
    const { pool, busy, untilBusy } = open({ instancesMax: 2, instancesPerTenantMax: 1 });
    let isOver = false;
    const calling = async (tenantId: string): Promise<void> => {
      while (!isOver) await pool.run(code(tenantId), PREPARE, BOUNDS);
    };
    const others = ['a', 'a', 'a', 'b', 'b', 'b'].map((tenantId) => calling(tenantId).catch(() => {}));
    await untilBusy(2);
    let isServed = false;
    const waiting = pool.run(code('c'), PREPARE, BOUNDS).then(() => {
      isServed = true;
    });
    for (let turn = 0; turn < 20 && !isServed; turn += 1) {
      await untilBusy(2);
      for (const instance of busy()) instance.finish();
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(isServed, 'within a few turns');
    isOver = true;
    let ended = 0;
    for (const each of [...others, waiting]) void each.then(() => (ended += 1));
    await eventually('they stop', () => {
      for (const instance of busy()) instance.finish();
      return ended === others.length + 1;
    });
  });

  it('never has more instances than it may, whatever has to make room for what', async () => {
    let most = 0;
    const { pool, busy } = open({ instancesMax: 8, instancesPerTenantMax: 2, waitingPerTenantMax: 64, waitingMax: 64 });
    const keys = Array.from({ length: 30 }, (_, n) => code('a', `o${n}`));
    const runs = keys.map((each) => pool.run(each, PREPARE, BOUNDS));
    let left = keys.length;
    for (const run of runs) void run.then(() => (left -= 1));
    await eventually('all are served', () => {
      most = Math.max(most, pool.figures().instances);
      busy()[0]?.finish();
      return left === 0;
    });
    assert.ok(most <= 2, `${most} instances`);
  });

  it('lets so many calls wait, of one tenant and of all, and refuses further ones at once', async () => {
    const { pool, untilBusy, busy } = open({
      instancesMax: 1,
      instancesPerTenantMax: 1,
      waitingMax: 3,
      waitingPerTenantMax: 2,
    });
    const run = (tenantId: string) => pool.run(code(tenantId), PREPARE, BOUNDS);
    const done = [run('a')];
    await untilBusy(1);
    done.push(run('a'), run('a'));
    await assert.rejects(run('a'), PoolFullError);
    done.push(run('b'));
    await assert.rejects(run('c'), PoolFullError);
    for (let left = done.length; left > 0; left -= 1) {
      await untilBusy(1);
      busy()[0]?.finish();
    }
    await Promise.all(done);
    assert.equal(pool.figures().waiting, 0);
  });

  it('tells when no instance can be started, and gives the place back', async () => {
    const faults: unknown[] = [];
    let isBroken = true;
    const { pool } = open({
      instancesMax: 1,
      startInstance: async () => {
        if (isBroken) throw new Error('no room');
        return Object.assign(new FakeInstance(), { run: () => Promise.resolve(RETURNED) });
      },
      onFault: (error) => faults.push(error),
    });
    await assert.rejects(pool.run(code('a'), PREPARE, BOUNDS), StartError);
    assert.equal(faults.length, 1);
    isBroken = false;
    assert.deepEqual((await pool.run(code('a'), PREPARE, BOUNDS)).outcome, RETURNED);
  });

  it('starts instances ahead, uses them, and starts others', async () => {
    const { pool, made, busy, untilBusy } = open({ blanks: 2 });
    pool.fill();
    await eventually('two are ready', () => pool.figures().blanks === 2);
    const run = pool.run(code('a'), PREPARE, BOUNDS);
    await untilBusy(1);
    await eventually('two are ready again', () => pool.figures().blanks === 2);
    assert.equal(made.length, 3);
    busy()[0]?.finish();
    await run;
  });

  it('ends an instance that comes up while it closes, and starts none behind its end', async () => {
    const starting = createDeferred<FakeInstance>();
    let starts = 0;
    const { pool } = open({
      startInstance: () => {
        starts += 1;
        return starting.promise;
      },
    });
    const run = pool.run(code('a'), PREPARE, BOUNDS);
    await eventually('it starts', () => starts === 1);
    await pool.close();
    const late = new FakeInstance();
    starting.resolve(late);
    await late.ended;
    late.finish({ outcome: 'ended' });
    await assert.rejects(pool.run(code('a'), PREPARE, BOUNDS), PoolFullError);
    assert.equal(starts, 1);
    void run;
  });
});
