import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Bulk } from './bulk.js';
import { bulkWrite, createGather } from './bulk.js';
import type { Tx } from './scope.js';
import { statement } from './statement.js';

/** A statement that answers with its rows, and a record of what was sent. */
function createServer() {
  const sent: { name: string; values: unknown }[] = [];
  let refusal: Error | undefined;
  const run: Tx['run'] = async (asked, values) => {
    sent.push({ name: asked.name, values: values[0] });
    await Promise.resolve();
    if (refusal) throw refusal;
    // The tests below only ask for rows of numbers.
    return (values[0] as number[]).map((n) => ({ n })) as never;
  };
  return {
    sent,
    gather: createGather(run),
    refuse(error: Error) {
      refusal = error;
    },
  };
}

function doubling(name: string, order: number): Bulk<number, { n: number }, Map<number, number>> {
  return {
    statement: statement(name, 'SELECT 1'),
    order,
    values: (rows) => [[...rows]],
    collect: (results) => new Map(results.map(({ n }) => [n, 2 * n])),
  };
}

describe('bulk statements', () => {
  it('callers of one turn share one execution with all their rows, and each finds its own part', async () => {
    const { gather, sent } = createServer();
    const bulk = doubling('double', 1);
    const answers = await Promise.all([
      gather(bulk, [1, 2]),
      gather(bulk, [3]),
      Promise.resolve().then(() => gather(bulk, [4])),
    ]);
    assert.deepEqual(sent, [{ name: 'double', values: [1, 2, 3, 4] }]);
    assert.deepEqual(
      [1, 2, 3, 4].map((n) => answers[0]?.get(n)),
      [2, 4, 6, 8],
    );
    assert.equal(answers[0], answers[2], 'made once and shared');
  });

  it('what is due together goes in the order of the statements, whoever asked first', async () => {
    const { gather, sent } = createServer();
    await Promise.all([3, 1, 2].map((order) => gather(doubling(`s${order}`, order), [order])));
    assert.deepEqual(
      sent.map(({ name }) => name),
      ['s1', 's2', 's3'],
    );
  });

  it('a later turn is another execution', async () => {
    const { gather, sent } = createServer();
    const bulk = doubling('double', 1);
    await gather(bulk, [1]);
    await gather(bulk, [2]);
    assert.deepEqual(
      sent.map(({ values }) => values),
      [[1], [2]],
    );
  });

  it('a failure reaches every caller, and leaves nothing behind for the next', async () => {
    const server = createServer();
    const bulk = doubling('double', 1);
    server.refuse(new Error('refused'));
    const outcomes = await Promise.allSettled([1, 2, 3].map((n) => server.gather(bulk, [n])));
    assert.deepEqual(
      outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason)),
      ['Error: refused', 'Error: refused', 'Error: refused'],
    );
    assert.equal(server.sent.length, 1);
  });

  it('a mistake in making columns or answers reaches every caller too', async () => {
    const { gather } = createServer();
    const broken = {
      ...doubling('broken', 1),
      values: (): never => {
        throw new Error('no columns');
      },
    };
    const outcomes = await Promise.allSettled([
      gather(broken, [1]),
      gather(broken, [2]),
      gather(doubling('fine', 2), [3]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected', 'fulfilled'],
    );
  });

  it('a row that no column can be made of fails only whoever brought it', async () => {
    const { gather, sent } = createServer();
    const picky: Bulk<number, { n: number }, Map<number, number>> = {
      ...doubling('picky', 1),
      values: (rows) => {
        if (rows.some((n) => n < 0)) throw new RangeError('no column for this');
        return [[...rows]];
      },
    };
    const outcomes = await Promise.allSettled([[1], [2, -2], [3], [-4]].map((rows) => gather(picky, rows)));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'rejected'],
    );
    assert.deepEqual(sent, [{ name: 'picky', values: [1, 3] }]);
    await assert.rejects(gather(picky, [-1]), RangeError);
    assert.equal(sent.length, 1, 'nothing is sent for nobody');
  });

  it('rows that only fail together reach every caller as a failure, and are not left without an answer', async () => {
    const { gather } = createServer();
    const lonely: Bulk<number, { n: number }, Map<number, number>> = {
      ...doubling('lonely', 1),
      values: (rows) => {
        if (rows.length > 1) throw new RangeError('too many');
        return [[...rows]];
      },
    };
    const outcomes = await Promise.allSettled([gather(lonely, [1]), gather(lonely, [2])]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['rejected', 'rejected'],
    );
  });

  it('the answer is made of what came back and of every row that was asked', async () => {
    const { gather } = createServer();
    const counting: Bulk<number, { n: number }, string> = {
      ...doubling('counting', 1),
      values: (rows) => [rows.slice(0, 1)],
      collect: (results, rows) => `${results.length} of ${rows.length}`,
    };
    assert.deepEqual(await Promise.all([gather(counting, [1, 2]), gather(counting, [3])]), ['1 of 3', '1 of 3']);
  });

  it('a call without rows is answered, and a write has no answer', async () => {
    const { gather } = createServer();
    assert.equal((await gather(doubling('double', 1), [])).size, 0);
    const write = bulkWrite<number>(statement('write', 'SELECT 1'), 1, (rows) => [[...rows]]);
    assert.equal(await gather(write, [1]), undefined);
  });

  it('more rows than a call can take as arguments are no fault', async () => {
    const { gather } = createServer();
    const rows = Array.from({ length: 300_000 }, (_, n) => n);
    assert.equal((await gather(doubling('double', 1), rows)).size, rows.length);
  });
});
