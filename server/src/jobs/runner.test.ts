import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, suite, test } from 'node:test';
import { systemClock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import type { TimeBounds } from '../storage/connection.js';
import type { Database } from '../storage/database.js';
import { createDatabase } from '../storage/database.js';
import { eventually } from '../testing/eventually.js';
import type { TestDatabase } from '../testing/test-database.js';
import { createTestDatabase } from '../testing/test-database.js';
import type { Job, JobRunner } from './runner.js';
import { restUntilTurn, startJobs } from './runner.js';

/** Longer than any test: who rests this long goes on only because somebody wakes it. */
const FOREVER_MS = 3_600_000;
const SHORT_REST_MS = 5;

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function createGate(): Gate {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

suite('jobs', () => {
  let db: TestDatabase;
  /** Undone after each test, newest first. */
  let undo: (() => Promise<void>)[];
  let faults: unknown[];

  before(async () => {
    db = await createTestDatabase();
  });
  after(() => db.drop());
  beforeEach(() => {
    undo = [];
    faults = [];
  });
  afterEach(async () => {
    for (const act of undo.reverse()) await act();
  });

  /** As a process of its own: with its own connections. */
  function openProcess(bounds?: TimeBounds): Database {
    const database = createDatabase({
      target: db.target,
      isDistributed: db.isDistributed,
      clock: systemClock,
      ...(bounds && { bounds }),
    });
    undo.push(() => database.close());
    return database;
  }

  function start(database: Database, { leadMaxMs, ...job }: Omit<Job, 'name'> & { leadMaxMs?: number }): JobRunner {
    const runner = startJobs({
      clock: systemClock,
      ...(leadMaxMs !== undefined && { leadMaxMs }),
      database,
      jobs: [{ name: 'counting', ...job }],
      onFault: (name, error) => faults.push({ name, error }),
    });
    undo.push(() => runner.close());
    return runner;
  }

  test('a job is repeated without rest while it finds work, and its work is counted', async () => {
    let left = 50;
    const step = async (): Promise<number> => {
      if (left === 0) return 0;
      left -= 1;
      return 2;
    };
    const runner = start(openProcess(), { restMs: FOREVER_MS, step });
    await eventually('all work is done', () => left === 0 && runner.done('counting') === 100);
    assert.equal(runner.done('another'), 0);
  });

  test('processes of one machine look by turns: together once in a rest, each of them once in a round', () => {
    const restMs = 5_000;
    const startMs = 1_700_000_000_000;
    const looks: number[] = [];
    for (const slot of [1, 2, 3]) {
      let nowMs = startMs + slot * 777;
      while (nowMs < startMs + 100 * restMs) {
        const rest = restUntilTurn(restMs, nowMs, { slot, of: 3 });
        assert.ok(rest > 0 && rest <= 3.5 * restMs);
        // A step and a timer take their time.
        nowMs += rest + 20 * slot;
        looks.push(nowMs);
      }
    }
    looks.sort((a, b) => a - b);
    const gaps = looks.slice(3).map((at, index) => at - (looks[index + 2] ?? 0));
    assert.ok(Math.min(...gaps) > 0.9 * restMs && Math.max(...gaps) < 1.1 * restMs);
    assert.equal(restUntilTurn(restMs, startMs + 1, { slot: 1, of: 1 }), restMs, 'alone it rests as ever');
  });

  test('of two processes one leads at a time, and both get their turns', async () => {
    let atWork = 0;
    let atWorkMost = 0;
    const turns = [0, 0];
    const stepOf = (process: number) => async (): Promise<number> => {
      atWork += 1;
      atWorkMost = Math.max(atWorkMost, atWork);
      for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
      atWork -= 1;
      turns[process] = (turns[process] ?? 0) + 1;
      return 0;
    };
    for (const process of [0, 1]) start(openProcess(), { restMs: SHORT_REST_MS, step: stepOf(process) });
    await eventually('each led several times', () => turns.every((count) => count > 10));
    assert.equal(atWorkMost, 1);
  });

  test('when the leading process loses its connection another one goes on', async () => {
    const [atStep, letGo] = [createGate(), createGate()];
    let isFirst = true;
    const leading = start(openProcess(), {
      restMs: SHORT_REST_MS,
      step: async () => {
        if (isFirst) {
          isFirst = false;
          atStep.open();
          await letGo.opened;
        }
        return 0;
      },
    });
    await atStep.opened;
    let done = 0;
    start(openProcess(), {
      restMs: SHORT_REST_MS,
      step: async () => {
        done += 1;
        return 0;
      },
    });
    assert.equal(done, 0);
    await db.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_locks
       WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    await eventually('the other one leads', () => done > 0);
    letGo.open();
    await leading.close();
  });

  test('a step that takes longer than the bound on statements keeps the lead', async () => {
    const bounds = { acquireMs: 1_000, statementMs: 200, lockMs: 200 };
    const [atStep, letGo] = [createGate(), createGate()];
    start(openProcess(bounds), {
      restMs: FOREVER_MS,
      step: async () => {
        atStep.open();
        await letGo.opened;
        return 0;
      },
    });
    await atStep.opened;
    let others = 0;
    start(openProcess(bounds), {
      restMs: SHORT_REST_MS,
      step: async () => {
        others += 1;
        return 0;
      },
    });
    const startedMs = performance.now();
    await eventually('five times the bound has passed', () => performance.now() - startedMs > 5 * bounds.statementMs);
    const othersMeanwhile = others;
    letGo.open();
    assert.equal(othersMeanwhile, 0, 'two processes were at the same job');
    assert.deepEqual(faults, []);
  });

  test('a process that hangs in a step loses the lead in the end: another goes on, and its own step counts as failed', async () => {
    const gate = createGate();
    let hasBegun = false;
    const hung = start(openProcess(), {
      restMs: FOREVER_MS,
      leadMaxMs: 200,
      async step() {
        hasBegun = true;
        await gate.opened;
        return 1;
      },
    });
    await eventually('it leads', () => hasBegun);
    let steps = 0;
    const countSteps = async (): Promise<number> => {
      steps += 1;
      return 0;
    };
    start(openProcess(), { restMs: SHORT_REST_MS, step: countSteps });
    await eventually('another leads', () => steps > 0);
    gate.open();
    await eventually('the loss is told', () => faults.length > 0);
    assert.equal(hung.done('counting'), 0);
  });

  test('a step that fails is reported under its name and tried again after the rest', async () => {
    let attempts = 0;
    const wrong = new Error('wrong');
    const step = async (): Promise<number> => {
      attempts += 1;
      if (attempts < 3) throw wrong;
      return attempts === 3 ? 1 : 0;
    };
    const runner = start(openProcess(), { restMs: SHORT_REST_MS, step });
    await eventually('it succeeds at last', () => runner.done('counting') === 1);
    assert.deepEqual(faults, [
      { name: 'counting', error: wrong },
      { name: 'counting', error: wrong },
    ]);
  });

  test('a step that fails in one job does not stop the others', async () => {
    let done = 0;
    const runner = startJobs({
      clock: systemClock,
      database: openProcess(),
      jobs: [
        { name: 'broken', restMs: SHORT_REST_MS, step: () => Promise.reject(new Error('wrong')) },
        {
          name: 'whole',
          restMs: SHORT_REST_MS,
          step: async () => {
            done += 1;
            return 0;
          },
        },
      ],
      onFault: (name) => faults.push(name),
    });
    undo.push(() => runner.close());
    await eventually('both were tried several times', () => done > 5 && faults.length > 5);
    assert.ok(faults.every((name) => name === 'broken'));
  });

  test('many jobs get along with two connections, one for the lead and one for its step', async () => {
    const database = createDatabase({
      target: db.target,
      clock: systemClock,
      connections: { readMax: 2, writeMax: 1 },
    });
    undo.push(() => database.close());
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
    const looks = new Map(names.map((name) => [name, 0]));
    const runner = startJobs({
      database,
      clock: systemClock,
      jobs: names.map((name) => ({
        name,
        restMs: SHORT_REST_MS,
        step: async () => {
          await database.lookUp(async () => {});
          looks.set(name, (looks.get(name) ?? 0) + 1);
          return 0;
        },
      })),
      onFault: (name, error) => faults.push({ name, error }),
    });
    undo.push(() => runner.close());
    await eventually('each had several turns', () => [...looks.values()].every((count) => count > 3));
    assert.deepEqual(faults, []);
  });

  test('a database that cannot be reached is a fault of the step, and the job goes on when it is back', async () => {
    const database = openProcess();
    let isDown = true;
    const flaky: Database = {
      ...database,
      system: (work) => (isDown ? Promise.reject(new AppError('storage_unavailable', 'down')) : database.system(work)),
    };
    let done = 0;
    start(flaky, {
      restMs: SHORT_REST_MS,
      step: async () => {
        done += 1;
        return 0;
      },
    });
    await eventually('the fault is reported', () => faults.length > 2);
    assert.equal(done, 0);
    isDown = false;
    await eventually('the step runs', () => done > 0);
  });

  test('a job that rests looks again at once when it is woken', async () => {
    let looks = 0;
    const runner = start(openProcess(), {
      restMs: FOREVER_MS,
      step: async () => {
        looks += 1;
        return 0;
      },
    });
    await eventually('it has looked once', () => looks === 1);
    await eventually('it looks again', () => {
      runner.wake('counting');
      return looks > 1;
    });
    runner.wake('unknown');
  });

  test('woken in the middle of a step that finds nothing, it looks again, because the step may have looked too early', async () => {
    const [atStep, letGo] = [createGate(), createGate()];
    let looks = 0;
    const runner = start(openProcess(), {
      restMs: FOREVER_MS,
      step: async () => {
        looks += 1;
        if (looks === 1) {
          atStep.open();
          await letGo.opened;
        }
        return 0;
      },
    });
    await atStep.opened;
    runner.wake('counting');
    letGo.open();
    await eventually('it looks a second time', () => looks > 1);
  });

  test('close waits for the step under way, and no step begins after it', async () => {
    const [atStep, letGo] = [createGate(), createGate()];
    let steps = 0;
    const runner = start(openProcess(), {
      restMs: SHORT_REST_MS,
      step: async () => {
        steps += 1;
        atStep.open();
        await letGo.opened;
        return 1;
      },
    });
    await atStep.opened;
    let isClosed = false;
    const closing = runner.close().then(() => {
      isClosed = true;
    });
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.equal(isClosed, false);
    letGo.open();
    await closing;
    runner.wake('counting');
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
    assert.equal(steps, 1);
    assert.equal(runner.done('counting'), 1);
  });

  test('close of jobs that rest is over at once', async () => {
    let looks = 0;
    const runner = start(openProcess(), {
      restMs: FOREVER_MS,
      step: async () => {
        looks += 1;
        return 0;
      },
    });
    await eventually('it rests', () => looks === 1);
    await runner.close();
    assert.equal(looks, 1);
  });
});
