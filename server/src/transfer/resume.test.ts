import assert from 'node:assert/strict';
import { appendFile, copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { TestApp, TestTenant } from '../testing/test-app.js';
import { startTestApp } from '../testing/test-app.js';
import {
  ALL_OF_TOKENS,
  exportFrom,
  importInto,
  logCounts,
  makeMany,
  makeScratch,
  makeTransferPair,
} from '../testing/transfer.js';
import { findTokensAfter } from '../vault/carry/queries.js';
import type { TokenPosition } from '../vault/index.js';

const TOKENS = 40;
const SEGMENT = 10;

describe('an export that was interrupted', () => {
  const pair = makeTransferPair();
  let app: TestApp;
  let tenant: TestTenant;
  let target: TestTenant;
  let ids: string[];
  let scratch: Awaited<ReturnType<typeof makeScratch>>;
  let folder: string;
  before(async () => {
    app = await startTestApp();
    scratch = await makeScratch();
  });
  after(async () => {
    await app.close();
    await scratch.remove();
  });
  beforeEach(async () => {
    tenant = await app.makeTenant();
    target = await app.makeTenant();
    ids = await makeMany(app, await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS), TOKENS);
    folder = join(scratch.path, tenant.id);
  });

  /** Stops once so many segments are done. */
  const exportPart = (segments: number) => {
    let done = 0;
    return exportFrom(app, tenant.id, folder, pair, {
      segmentTokensMax: SEGMENT,
      onProgress: (count) => {
        done = count;
      },
      shouldStop: () => done >= segments * SEGMENT,
    });
  };
  const resume = (more = {}) =>
    exportFrom(app, tenant.id, folder, pair, { segmentTokensMax: SEGMENT, isResuming: true, ...more });

  it('goes on after its last segment: each token once in the files and once in the log', async () => {
    const first = await exportPart(2);
    assert.deepEqual([first.kind, first.tokens], ['interrupted', 20]);
    await assert.rejects(importInto(app, target.id, folder, pair), /not finished.*--resume/);
    const second = await resume();
    assert.deepEqual([second.kind, second.tokens, second.tokensNow, second.segments], ['complete', 40, 20, 4]);
    const logged = await logCounts(app, tenant.id, 'Token retrieved');
    assert.deepEqual([logged.size, new Set(logged.values())], [TOKENS, new Set([1])]);
    const { created } = await importInto(app, target.id, folder, pair);
    assert.equal(created, TOKENS);
    assert.equal((await resume()).kind, 'was-complete');
  });

  it('goes on although a segment was half written and the book torn in the middle of a line', async () => {
    await exportPart(2);
    await writeFile(join(folder, 'segment-000003.sealed.part'), 'half');
    await writeFile(join(folder, 'segment-000003.sealed'), 'named, but not in the book');
    await appendFile(join(folder, 'progress'), `${ids[0]} AAAA`);
    assert.equal((await resume()).kind, 'complete');
    const names = (await readdir(folder)).sort();
    assert.deepEqual(names, ['manifest.sealed', ...[1, 2, 3, 4].map((n) => `segment-00000${n}.sealed`)]);
    assert.equal((await importInto(app, target.id, folder, pair)).created, TOKENS);
  });

  it('starts over when it died before its first line was written', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'progress'), 'not yet a line');
    assert.deepEqual([(await resume()).tokens, (await importInto(app, target.id, folder, pair)).created], [40, 40]);
  });

  it('reads as few tokens at a time as their size demands, and still comes to all of them', async () => {
    const page = { untilMs: Number.MAX_SAFE_INTEGER / 1_000, nowMs: 0, limit: 200 };
    const seen: string[] = [];
    const read = async (bytesMax: number, after: TokenPosition) => {
      const rows = await app.database.read(tenant.id, (tx) => findTokensAfter(tx, { ...page, after, bytesMax }));
      seen.push(...rows.map(({ id }) => id));
      const last = rows.at(-1);
      return { count: rows.length, next: last && { createdAtMs: last.created_at.getTime(), tie: last.tie } };
    };
    const start = { createdAtMs: 0, tie: '00000000-0000-0000-0000-000000000000' };
    const first = await read(1, start);
    assert.equal(first.count, 1);
    const second = await read(1_000, first.next ?? start);
    assert.ok(second.count > 1 && second.count < 10, `${second.count} in a thousand bytes`);
    await read(1_000_000, second.next ?? start);
    assert.deepEqual([...seen].sort(), [...ids].sort());
  });

  it('takes tokens that were made since it began no more', async () => {
    await exportPart(1);
    await makeMany(app, await app.makeKey(tenant.id, 'private', ALL_OF_TOKENS), 5);
    assert.equal((await resume()).tokens, TOKENS);
  });

  it('is refused under another lock, and for another tenant', async () => {
    await exportPart(1);
    await assert.rejects(resume({ lockLike: async () => makeTransferPair().lock }), /another passphrase or recipient/);
    await assert.rejects(exportFrom(app, target.id, folder, pair, { isResuming: true }), /another Tenant's/);
    assert.equal((await resume()).kind, 'complete');
  });

  it('is refused when its book was edited or a segment is gone', async () => {
    await exportPart(2);
    const book = await readFile(join(folder, 'progress'), 'latin1');
    const [head, one, two] = book.split('\n');
    await writeFile(join(folder, 'progress'), `${[head, two, one].join('\n')}\n`);
    await assert.rejects(resume(), /its book was changed/);
    await writeFile(join(folder, 'progress'), book);
    await rename(join(folder, 'segment-000001.sealed'), join(scratch.path, `${tenant.id}-1`));
    await assert
      .rejects(resume(), /segment-000001.sealed is gone/)
      .finally(() => rename(join(scratch.path, `${tenant.id}-1`), join(folder, 'segment-000001.sealed')));
    assert.equal((await resume()).kind, 'complete');
  });

  it('is refused without --resume, as is any folder that is not empty, and nothing there is touched', async () => {
    await exportPart(1);
    const before = (await readdir(folder)).sort();
    await assert.rejects(exportFrom(app, tenant.id, folder, pair), /not empty.*--resume/);
    assert.deepEqual((await readdir(folder)).sort(), before);
    const foreign = join(scratch.path, `${tenant.id}-foreign`);
    await mkdir(foreign);
    await writeFile(join(foreign, 'segment-000009.sealed'), 'mine');
    await assert.rejects(exportFrom(app, tenant.id, foreign, pair, { isResuming: true }), /no unfinished export/);
    assert.equal(await readFile(join(foreign, 'segment-000009.sealed'), 'utf8'), 'mine');
  });

  it('keeps what it wrote when the log refuses: nothing unlogged is in a file, and the rest comes later', async () => {
    let isBroken = false;
    await assert.rejects(
      exportFrom(app, tenant.id, folder, pair, {
        segmentTokensMax: SEGMENT,
        onProgress: (done) => {
          isBroken = done >= 2 * SEGMENT;
        },
        database: {
          ...app.database,
          write: (tenantId, work) =>
            isBroken ? Promise.reject(new Error('the log is away')) : app.database.write(tenantId, work),
        },
      }),
      /the log is away/,
    );
    assert.equal((await logCounts(app, tenant.id, 'Token retrieved')).size, 20);
    assert.ok(!(await readdir(folder)).includes('segment-000003.sealed'));
    assert.equal((await resume()).tokens, TOKENS);
    const logged = await logCounts(app, tenant.id, 'Token retrieved');
    assert.deepEqual([logged.size, new Set(logged.values())], [TOKENS, new Set([1])]);
  });

  it('can be imported in parts: a run that stopped is taken up by the next', async () => {
    await exportPart(99);
    let batches = 0;
    // The first look goes for conflicts; the writing stops at its first batch.
    const shouldStop = () => {
      batches += 1;
      return batches > 1;
    };
    const first = await importInto(app, target.id, folder, pair, { shouldStop });
    assert.deepEqual([first.kind, first.created], ['interrupted', 0]);
    assert.equal((await importInto(app, target.id, folder, pair)).created, TOKENS);
  });

  it('sorts a batch out again when one of its ids is taken in between', async () => {
    await exportPart(99);
    const key = await app.makeKey(target.id, 'private', ALL_OF_TOKENS);
    assert.equal((await app.call('POST', '/tokens', { key, body: { id: ids[7], data: 'first' } })).status, 201);
    let writes = 0;
    const database: TestApp['database'] = {
      ...app.database,
      write: (tenantId, work) => {
        writes += 1;
        if (writes > 1) return app.database.write(tenantId, work);
        // As if the other token had come just after this transaction looked for it.
        return app.database.write(tenantId, (tx) => {
          const gather: typeof tx.gather = async (bulk, rows) =>
            bulk.statement.name === 'find_tokens' ? bulk.collect([], []) : tx.gather(bulk, rows);
          return work({ ...tx, gather });
        });
      },
    };
    const outcome = await importInto(app, target.id, folder, pair, { database, onConflict: 'skip' });
    assert.deepEqual([outcome.created, outcome.conflicts, writes], [TOKENS - 1, 1, 2]);
    const logged = await logCounts(app, target.id, 'Token created');
    assert.deepEqual([logged.size, new Set(logged.values())], [TOKENS - 1, new Set([1])]);
  });

  for (const [circumstance, spoil] of [
    ['two segments are swapped', (a: string, b: string) => swap(a, b)],
    ['a segment stands in for another', (a: string, b: string) => copyFile(a, b)],
    ['a segment is missing', (a: string) => rm(a)],
    ['a segment is cut off', async (a: string) => writeFile(a, (await readFile(a)).subarray(0, -1))],
    ['a segment goes on', (a: string) => appendFile(a, '\0')],
  ] as const) {
    it(`is not imported when ${circumstance}, and nothing is written`, async () => {
      await exportPart(99);
      const path = (n: number) => join(folder, `segment-00000${n}.sealed`);
      await spoil(path(1), path(2));
      await assert.rejects(importInto(app, target.id, folder, pair), /Nothing was imported|with all of its segments/);
      assert.equal((await logCounts(app, target.id, 'Token created')).size, 0);
    });
  }

  it('is not imported with the segments of another export of the same tenant', async () => {
    await exportPart(99);
    const other = join(scratch.path, `${tenant.id}-other`);
    await exportFrom(app, tenant.id, other, pair, { segmentTokensMax: SEGMENT });
    await copyFile(join(other, 'segment-000002.sealed'), join(folder, 'segment-000002.sealed'));
    await assert.rejects(importInto(app, target.id, folder, pair), /segment-000002.sealed is not the file/);
  });

  it('is not imported with another identity', async () => {
    await exportPart(99);
    await assert.rejects(
      importInto(app, target.id, folder, makeTransferPair()),
      /sealed for another key.*Check passphrase/,
    );
  });
});

async function swap(a: string, b: string): Promise<void> {
  await rename(a, `${a}.kept`);
  await rename(b, a);
  await rename(`${a}.kept`, b);
}
