import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outage } from '../testing/group-commit-fixture.js';
import type { Bulk } from './bulk.js';
import { translateDriverFault } from './faults.js';
import type { RunShared, SharedReadsOptions } from './shared-reads.js';
import { createSharedReads } from './shared-reads.js';
import { statement } from './statement.js';

function look(name: string): Bulk<number, number, ReadonlySet<number>> {
  return { statement: statement(name, 'SELECT 1'), order: 1, values: () => [], collect: (results) => new Set(results) };
}

interface RoundTrip {
  readonly tenants: readonly string[];
  readonly name: string;
  readonly rows: readonly unknown[];
  answer(): void;
  crash(error: unknown): void;
}

/** Round trips stay out until the test lets them answer. */
function createTrips(options: SharedReadsOptions) {
  const roundTrips: RoundTrip[] = [];
  let outMost = 0;
  let out = 0;
  const run: RunShared = (tenants, bulk, rows) =>
    new Promise((resolve, reject) => {
      out += 1;
      outMost = Math.max(outMost, out);
      const end = (finish: () => void) => () => {
        out -= 1;
        finish();
      };
      roundTrips.push({
        tenants,
        name: bulk.statement.name,
        rows,
        answer: end(() => resolve(new Set(rows))),
        crash: (error) => end(() => reject(error))(),
      });
    });
  return { roundTrips, reads: createSharedReads(run, options), outMost: () => outMost };
}

/** Two turns of the event loop: in the first it is seen that a round trip has landed, and in the second the next one leaves. */
const turn = async (): Promise<void> => {
  for (let left = 2; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('shared reads', () => {
  it('a round trip is of one tenant where the database is distributed', async () => {
    const { roundTrips, reads } = createTrips({ roundTripsMax: 2, rowsMax: 10, isByTenant: true });
    const bulk = look('look');
    const asked = [reads.find('a', bulk, 1), reads.find('b', bulk, 2), reads.find('a', bulk, 3)];
    await turn();
    assert.deepEqual(
      roundTrips.map(({ tenants, rows }) => [tenants, rows]),
      [
        [['a'], [1, 3]],
        [['b'], [2]],
      ],
    );
    for (const { answer } of roundTrips) answer();
    assert.deepEqual(await Promise.all(asked), [new Set([1, 3]), new Set([2]), new Set([1, 3])]);
  });

  it('looks that arrive together share a round trip with each tenant once in scope', async () => {
    const { roundTrips, reads } = createTrips({ roundTripsMax: 2, rowsMax: 10 });
    const bulk = look('look');
    const asked = [
      reads.find('a', bulk, 1),
      reads.find('b', bulk, 2),
      reads.find('a', bulk, 3),
      reads.find('a', bulk, 1),
    ];
    await turn();
    assert.deepEqual(
      roundTrips.map(({ tenants, rows }) => [tenants, rows]),
      [
        [
          ['a', 'b'],
          [1, 3, 1, 2],
        ],
      ],
    );
    roundTrips[0]?.answer();
    for (const answer of await Promise.all(asked)) assert.deepEqual([...answer].sort(), [1, 2, 3]);
  });

  it('a round trip takes at most its rows, at most so many are out, and what waits gathers for the next', async () => {
    const trips = createTrips({ roundTripsMax: 2, rowsMax: 3 });
    const bulk = look('look');
    const asked = Array.from({ length: 10 }, (_, n) => trips.reads.find('a', bulk, n));
    await turn();
    assert.deepEqual(
      trips.roundTrips.map(({ rows }) => rows),
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
    );
    asked.push(trips.reads.find('b', bulk, 10));
    for (let next = 0; next < trips.roundTrips.length; next += 1) {
      trips.roundTrips[next]?.answer();
      await turn();
    }
    await Promise.all(asked);
    assert.deepEqual(
      trips.roundTrips.map(({ rows }) => rows),
      [
        [0, 1, 2],
        [3, 4, 5],
        [6, 10, 7],
        [8, 9],
      ],
    );
    assert.deepEqual(trips.roundTrips.at(2)?.tenants, ['a', 'b']);
    assert.equal(trips.outMost(), 2);
  });

  it('a look never waits for all that another tenant asks: tenants share a round trip in turn', async () => {
    const trips = createTrips({ roundTripsMax: 1, rowsMax: 3 });
    const bulk = look('look');
    const asked = [1, 2, 3, 4, 5, 6].map((n) => trips.reads.find('a', bulk, n));
    asked.push(trips.reads.find('b', bulk, 7));
    await turn();
    await fail(trips, new Error('nothing fails here'));
    await Promise.all(asked);
    assert.deepEqual(
      trips.roundTrips.map(({ rows }) => rows),
      [[1, 7, 2], [3, 4, 5], [6]],
    );
  });

  it('statements never mix, and each gets its turn', async () => {
    const { roundTrips, reads } = createTrips({ roundTripsMax: 1, rowsMax: 10 });
    const [one, two] = [look('one'), look('two')];
    const asked = [reads.find('a', one, 1), reads.find('a', two, 2), reads.find('a', one, 3)];
    await turn();
    roundTrips[0]?.answer();
    await turn();
    roundTrips[1]?.answer();
    await Promise.all(asked);
    assert.deepEqual(
      roundTrips.map(({ name, rows }) => [name, rows]),
      [
        ['one', [1, 3]],
        ['two', [2]],
      ],
    );
  });

  it('503 for everybody on a round trip that found the store gone and for nobody else, and the next round trip goes', async () => {
    const { roundTrips, reads } = createTrips({ roundTripsMax: 1, rowsMax: 2 });
    const bulk = look('look');
    const asked = [1, 2, 3].map((n) => reads.find('a', bulk, n));
    const outcomes = Promise.allSettled(asked);
    await turn();
    roundTrips[0]?.crash(outage());
    await turn();
    roundTrips[1]?.answer();
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
    const later = reads.find('a', bulk, 4);
    await turn();
    roundTrips[2]?.answer();
    assert.deepEqual([...(await later)], [4]);
  });

  const refused = (code: string) =>
    translateDriverFault(Object.assign(new Error('refused'), { code, severity: 'ERROR' }));

  /** Lands what has no row below zero and crashes the rest, until nothing is out any more. */
  async function fail(trips: ReturnType<typeof createTrips>, error: unknown): Promise<void> {
    for (let next = 0; next < trips.roundTrips.length; next += 1) {
      const roundTrip = trips.roundTrips[next];
      if (roundTrip?.rows.some((row) => Number(row) < 0)) roundTrip.crash(error);
      else roundTrip?.answer();
      await turn();
    }
  }

  for (const [what, error] of [
    ['an SQL error', refused('22021')],
    ['a row that cannot be read', refused('XX001')],
    ['a mistake in making columns', new TypeError('no column')],
  ] as const) {
    it(`${what} fails only the ask that brought it: others go again by tenant, then one by one`, async () => {
      const trips = createTrips({ roundTripsMax: 1, rowsMax: 10 });
      const bulk = look('look');
      const asks: [string, number][] = [
        ['a', 1],
        ['b', -1],
        ['a', 2],
        ['b', 3],
        ['c', 4],
      ];
      const outcomes = Promise.allSettled(asks.map(([tenant, row]) => trips.reads.find(tenant, bulk, row)));
      await turn();
      await fail(trips, error);
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
      );
      assert.deepEqual(
        trips.roundTrips.map(({ tenants, rows }) => [tenants.join(''), rows]),
        [
          ['abc', [1, 2, -1, 3, 4]],
          ['a', [1, 2]],
          ['b', [-1, 3]],
          ['b', [-1]],
          ['b', [3]],
          ['c', [4]],
        ],
      );
      assert.equal(trips.outMost(), 1, 'what goes again takes no further round trip');
    });
  }

  it('a statement that took too long, or a server short of something, is not tried again one by one', async () => {
    for (const code of ['57014', '53200', '57P01', '58030', '26000']) {
      const { roundTrips, reads } = createTrips({ roundTripsMax: 1, rowsMax: 10 });
      const bulk = look('look');
      const outcomes = Promise.allSettled([reads.find('a', bulk, 1), reads.find('b', bulk, 2)]);
      await turn();
      roundTrips[0]?.crash(refused(code));
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['rejected', 'rejected'],
      );
      assert.equal(roundTrips.length, 1, code);
    }
  });

  it('a look made while every round trip is out leaves as soon as one has landed', async () => {
    const { roundTrips, reads } = createTrips({ roundTripsMax: 1, rowsMax: 10 });
    const bulk = look('look');
    const first = reads.find('a', bulk, 1);
    await turn();
    const second = reads.find('b', bulk, 2);
    await turn();
    assert.equal(roundTrips.length, 1);
    roundTrips[0]?.answer();
    await first;
    await turn();
    assert.equal(roundTrips.length, 2);
    roundTrips[1]?.answer();
    await second;
  });
});
