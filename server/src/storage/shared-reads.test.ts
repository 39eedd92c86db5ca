import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { outage } from '../testing/group-commit-fixture.js';
import type { Bulk } from './bulk.js';
import { translateDriverFault } from './faults.js';
import type { RunShared } from './shared-reads.js';
import { createSharedReads } from './shared-reads.js';
import { statement } from './statement.js';

function look(name: string): Bulk<number, number, ReadonlySet<number>> {
  return { statement: statement(name, 'SELECT 1'), order: 1, values: () => [], collect: (results) => new Set(results) };
}

interface Flight {
  readonly tenants: readonly string[];
  readonly name: string;
  readonly rows: readonly unknown[];
  land(): void;
  crash(error: unknown): void;
}

/** Flights stay out until the test lets them land. */
function createAir(options: { flightsMax: number; rowsMax: number }) {
  const flights: Flight[] = [];
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
      flights.push({
        tenants,
        name: bulk.statement.name,
        rows,
        land: end(() => resolve(new Set(rows))),
        crash: (error) => end(() => reject(error))(),
      });
    });
  return { flights, reads: createSharedReads(run, options), outMost: () => outMost };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('shared reads', () => {
  it('looks that arrive together share a flight with each tenant once in scope', async () => {
    const { flights, reads } = createAir({ flightsMax: 2, rowsMax: 10 });
    const bulk = look('look');
    const asked = [
      reads.find('a', bulk, 1),
      reads.find('b', bulk, 2),
      reads.find('a', bulk, 3),
      reads.find('a', bulk, 1),
    ];
    await turn();
    assert.deepEqual(
      flights.map(({ tenants, rows }) => [tenants, rows]),
      [
        [
          ['a', 'b'],
          [1, 3, 1, 2],
        ],
      ],
    );
    flights[0]?.land();
    for (const answer of await Promise.all(asked)) assert.deepEqual([...answer].sort(), [1, 2, 3]);
  });

  it('a flight takes at most its rows, at most so many are out, and what waits gathers for the next', async () => {
    const air = createAir({ flightsMax: 2, rowsMax: 3 });
    const bulk = look('look');
    const asked = Array.from({ length: 10 }, (_, n) => air.reads.find('a', bulk, n));
    await turn();
    assert.deepEqual(
      air.flights.map(({ rows }) => rows),
      [
        [0, 1, 2],
        [3, 4, 5],
      ],
    );
    asked.push(air.reads.find('b', bulk, 10));
    for (let next = 0; next < air.flights.length; next += 1) {
      air.flights[next]?.land();
      await turn();
    }
    await Promise.all(asked);
    assert.deepEqual(
      air.flights.map(({ rows }) => rows),
      [
        [0, 1, 2],
        [3, 4, 5],
        [6, 10, 7],
        [8, 9],
      ],
    );
    assert.deepEqual(air.flights.at(2)?.tenants, ['a', 'b']);
    assert.equal(air.outMost(), 2);
  });

  it('a look never waits for all that another tenant asks: tenants share a flight in turn', async () => {
    const air = createAir({ flightsMax: 1, rowsMax: 3 });
    const bulk = look('look');
    const asked = [1, 2, 3, 4, 5, 6].map((n) => air.reads.find('a', bulk, n));
    asked.push(air.reads.find('b', bulk, 7));
    await turn();
    await fail(air, new Error('nothing fails here'));
    await Promise.all(asked);
    assert.deepEqual(
      air.flights.map(({ rows }) => rows),
      [[1, 7, 2], [3, 4, 5], [6]],
    );
  });

  it('statements never mix, and each gets its turn', async () => {
    const { flights, reads } = createAir({ flightsMax: 1, rowsMax: 10 });
    const [one, two] = [look('one'), look('two')];
    const asked = [reads.find('a', one, 1), reads.find('a', two, 2), reads.find('a', one, 3)];
    await turn();
    flights[0]?.land();
    await turn();
    flights[1]?.land();
    await Promise.all(asked);
    assert.deepEqual(
      flights.map(({ name, rows }) => [name, rows]),
      [
        ['one', [1, 3]],
        ['two', [2]],
      ],
    );
  });

  it('503 for everybody on a flight that found the store gone and for nobody else, and the next flight goes', async () => {
    const { flights, reads } = createAir({ flightsMax: 1, rowsMax: 2 });
    const bulk = look('look');
    const asked = [1, 2, 3].map((n) => reads.find('a', bulk, n));
    const outcomes = Promise.allSettled(asked);
    await turn();
    flights[0]?.crash(outage());
    await turn();
    flights[1]?.land();
    assert.deepEqual(
      (await outcomes).map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
    const later = reads.find('a', bulk, 4);
    await turn();
    flights[2]?.land();
    assert.deepEqual([...(await later)], [4]);
  });

  const refused = (code: string) =>
    translateDriverFault(Object.assign(new Error('refused'), { code, severity: 'ERROR' }));

  /** Lands what has no row below zero and crashes the rest, until nothing is out any more. */
  async function fail(air: ReturnType<typeof createAir>, error: unknown): Promise<void> {
    for (let next = 0; next < air.flights.length; next += 1) {
      const flight = air.flights[next];
      if (flight?.rows.some((row) => Number(row) < 0)) flight.crash(error);
      else flight?.land();
      await turn();
    }
  }

  for (const [what, error] of [
    ['an SQL error', refused('22021')],
    ['a row that cannot be read', refused('XX001')],
    ['a mistake in making columns', new TypeError('no column')],
  ] as const) {
    it(`${what} fails only the ask that brought it: others go again by tenant, then one by one`, async () => {
      const air = createAir({ flightsMax: 1, rowsMax: 10 });
      const bulk = look('look');
      const asks: [string, number][] = [
        ['a', 1],
        ['b', -1],
        ['a', 2],
        ['b', 3],
        ['c', 4],
      ];
      const outcomes = Promise.allSettled(asks.map(([tenant, row]) => air.reads.find(tenant, bulk, row)));
      await turn();
      await fail(air, error);
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
      );
      assert.deepEqual(
        air.flights.map(({ tenants, rows }) => [tenants.join(''), rows]),
        [
          ['abc', [1, 2, -1, 3, 4]],
          ['a', [1, 2]],
          ['b', [-1, 3]],
          ['b', [-1]],
          ['b', [3]],
          ['c', [4]],
        ],
      );
      assert.equal(air.outMost(), 1, 'what goes again takes no further flight');
    });
  }

  it('a statement that took too long, or a server short of something, is not tried again one by one', async () => {
    for (const code of ['57014', '53200', '57P01', '58030', '26000']) {
      const { flights, reads } = createAir({ flightsMax: 1, rowsMax: 10 });
      const bulk = look('look');
      const outcomes = Promise.allSettled([reads.find('a', bulk, 1), reads.find('b', bulk, 2)]);
      await turn();
      flights[0]?.crash(refused(code));
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['rejected', 'rejected'],
      );
      assert.equal(flights.length, 1, code);
    }
  });

  it('a look made while every flight is out leaves as soon as one has landed', async () => {
    const { flights, reads } = createAir({ flightsMax: 1, rowsMax: 10 });
    const bulk = look('look');
    const first = reads.find('a', bulk, 1);
    await turn();
    const second = reads.find('b', bulk, 2);
    await turn();
    assert.equal(flights.length, 1);
    flights[0]?.land();
    await first;
    await turn();
    assert.equal(flights.length, 2);
    flights[1]?.land();
    await second;
  });
});
