import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { createDeferred } from '../../../kernel/deferred.js';
import { newId } from '../../../kernel/ids.js';
import { eventually } from '../../../testing/eventually.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import { dayOf } from './figure-names.js';
import type { CountedRun, DayGrowth, RunFigures, RunFiguresOptions } from './figures.js';
import { createRunFigures, DAYS_PENDING_MAX } from './figures.js';

const NOON_MS = Date.UTC(2030, 0, 15, 12);
const HOUR_MS = 3_600_000;
const OUT = new Error('out of reach');

const fail = (error: unknown) => assert.fail(String(error));
const run = (more: Partial<CountedRun> = {}): CountedRun => ({
  ...{ tenantId: 'one tenant', definitionId: 'a Reactor', durationMs: 2, isCold: false, failure: undefined },
  ...more,
});

describe('the figures of Reactors in a process', () => {
  const opened: RunFigures[] = [];
  after(() => Promise.all(opened.map((figures) => figures.close())));

  function keep(write: RunFiguresOptions['write'], more: Partial<RunFiguresOptions> = {}) {
    const clock = createFakeClock(NOON_MS);
    const figures = createRunFigures({ clock, write, onFault: fail, roundMs: 1, retryMs: 0, ...more });
    opened.push(figures);
    return { clock, figures };
  }

  /** Sums what was written, by Reactor, day and counter. */
  function sums() {
    const written = new Map<string, number>();
    const write = async ({ definitionId, day, counts }: DayGrowth) => {
      for (const [figure, count] of counts) {
        const key = `${definitionId} ${day - dayOf(NOON_MS)} ${figure}`;
        written.set(key, (written.get(key) ?? 0) + count);
      }
    };
    return { written, write };
  }

  it('are written within a round without being asked for, by Reactor, day and counter', async () => {
    const { written, write } = sums();
    const { clock, figures } = keep(write);
    for (let call = 0; call < 5; call += 1) figures.note(run({ isCold: call === 0 }));
    figures.note(run({ failure: 'timeout', durationMs: 30_000 }));
    figures.note(run({ failure: 'not_run', durationMs: 10_000 }));
    await eventually('the first day is written', () => written.get('a Reactor 0 calls') === 7);
    clock.advance(12 * HOUR_MS);
    figures.note(run({ definitionId: 'another' }));
    await eventually('the next day is written', () => written.has('another 1 calls'));
    assert.deepEqual(Object.fromEntries(written), {
      'a Reactor 0 calls': 7,
      'a Reactor 0 ms:4': 5,
      'a Reactor 0 cold': 1,
      'a Reactor 0 error:timeout': 1,
      'a Reactor 0 ms:60': 1,
      'a Reactor 0 error:not_run': 1,
      'another 1 calls': 1,
      'another 1 ms:4': 1,
    });
  });

  it('are kept while they cannot be written, and count once; those beside them are written once', async () => {
    const { written, write } = sums();
    const faults: unknown[] = [];
    let isOut = true;
    const { figures } = keep(
      (growth) => (isOut && growth.definitionId === 'a Reactor' ? Promise.reject(OUT) : write(growth)),
      { onFault: (error) => faults.push(error) },
    );
    figures.note(run());
    figures.note(run({ definitionId: 'another' }));
    await eventually('it was tried twice', () => faults.length >= 2);
    figures.note(run());
    isOut = false;
    await eventually('both are written', () => written.get('a Reactor 0 calls') === 2);
    assert.equal(written.get('another 0 calls'), 1);
  });

  it('those of one Reactor are written when asked for, also while a round is writing them', async () => {
    const { written, write } = sums();
    const { promise: gate, resolve: open } = createDeferred<void>();
    const { figures } = keep(async (growth) => {
      await gate;
      await write(growth);
    });
    figures.note(run());
    figures.note(run({ definitionId: 'another' }));
    const flushed = figures.flush('one tenant', 'a Reactor');
    open();
    await flushed;
    assert.equal(written.get('a Reactor 0 calls'), 1);
  });

  it('whoever asks hears of a fault, and nothing is lost by it', async () => {
    const { written, write } = sums();
    let isOut = true;
    const { figures } = keep((growth) => (isOut ? Promise.reject(OUT) : write(growth)), { roundMs: 60_000 });
    figures.note(run());
    await assert.rejects(figures.flush('one tenant', 'a Reactor'), OUT);
    isOut = false;
    await figures.flush('one tenant', 'a Reactor');
    await figures.flush('one tenant', 'a Reactor');
    assert.equal(written.get('a Reactor 0 calls'), 1);
  });

  it('are written by a stop, which ends also where they cannot be', async () => {
    const { written, write } = sums();
    const { figures } = keep(write, { roundMs: 60_000 });
    figures.note(run());
    await figures.close();
    assert.equal(written.get('a Reactor 0 calls'), 1);
    const faults: unknown[] = [];
    const failing = keep(() => Promise.reject(OUT), { roundMs: 60_000, onFault: (error) => faults.push(error) });
    failing.figures.note(run());
    await failing.figures.close();
    assert.equal(faults.length, 1);
  });

  it('are bounded, and written in batches', async () => {
    let [underway, most, writes] = [0, 0, 0];
    const { figures } = keep(
      async () => {
        underway += 1;
        most = Math.max(most, underway);
        await Promise.resolve();
        underway -= 1;
        writes += 1;
      },
      { roundMs: 60_000 },
    );
    for (let reactor = 0; reactor <= DAYS_PENDING_MAX; reactor += 1) figures.note(run({ definitionId: newId() }));
    await figures.close();
    assert.equal(writes, DAYS_PENDING_MAX);
    assert.ok(most <= 64, String(most));
  });
});
