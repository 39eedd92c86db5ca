// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newId } from '../../../kernel/ids.js';
import { createFakeClock } from '../../../testing/fake-clock.js';
import type { TestApp, TestTenant } from '../../../testing/test-app.js';
import { rootKeyOf, startTestApp } from '../../../testing/test-app.js';
import { DAYS_SHOWN } from '../../definitions/figures/figure-calls.js';
import { dayOf } from '../../definitions/figures/figure-names.js';
import { addReactorFigures } from './queries.js';
import { sweepOldFigures } from './service.js';

const NOON_MS = Date.UTC(2030, 0, 31, 12);
const TODAY = dayOf(NOON_MS);

describe('GET /reactors/{id}/metrics', () => {
  let app: TestApp;
  let tenant: TestTenant;
  before(async () => {
    app = await startTestApp({ clock: createFakeClock(NOON_MS) });
    tenant = await app.makeTenant();
  });
  after(() => app.close());

  async function make(code = 'module.exports = () => ({ raw: 1 })'): Promise<string> {
    const made = await app.call('POST', '/reactors', { key: tenant.key, body: { name: 'r', code } });
    assert.equal(made.status, 201, made.text);
    return made.json.id;
  }
  const metrics = (id: string, { key, from = app }: { key?: string; from?: TestApp } = {}) =>
    from.call('GET', `/reactors/${id}/metrics`, { key: key ?? tenant.key });
  const count = (reactorId: string, day: number, figures: Readonly<Record<string, number>>) =>
    app.database.write(tenant.id, (tx) =>
      addReactorFigures(
        tx,
        Object.entries(figures).map(([figure, n]) => ({
          tenantId: tenant.id,
          definitionId: reactorId,
          day,
          figure,
          count: n,
        })),
      ),
    );
  const rowsOf = async (reactorId: string): Promise<number> =>
    (await app.db.owner.query('SELECT 1 FROM reactor_figures WHERE reactor_id = $1', [reactorId])).rows.length;

  it('200 with thirty days and nothing in them for a Reactor that never ran', async () => {
    const { status, json } = await metrics(await make());
    assert.equal(status, 200);
    assert.deepEqual(json.total, { calls: 0, errors: {}, cold_starts: 0 });
    assert.equal(json.days.length, DAYS_SHOWN);
    assert.deepEqual(json.days[0], { date: '2030-01-31', calls: 0, errors: {}, cold_starts: 0 });
    assert.equal(json.days.at(-1).date, '2030-01-02');
  });

  it('adds up the days of the window and nothing else; the job removes what is older', async () => {
    const id = await make();
    await count(id, TODAY, { calls: 2, cold: 1, 'ms:4': 1, 'ms:60': 1, 'error:timeout': 1 });
    await count(id, TODAY - 29, { calls: 3, 'ms:4': 3 });
    await count(id, TODAY - 30, { calls: 5, 'ms:40': 5 });
    await count(id, TODAY + 1, { calls: 7 });
    const { json } = await metrics(id);
    const [today, ...before] = json.days;
    assert.deepEqual([json.total.calls, today.calls, before.at(-1).calls], [5, 2, 3]);
    assert.deepEqual([json.total.errors, json.total.cold_starts], [{ timeout: 1 }, 1]);
    assert.ok(json.total.p50_ms > 1 && json.total.p50_ms <= 2, json.total.p50_ms);
    assert.ok(json.total.p99_ms > 27_000 && json.total.p99_ms <= 32_768, json.total.p99_ms);
    const stored = await rowsOf(id);
    assert.equal(await sweepOldFigures(app.database, NOON_MS), 2);
    assert.equal(await rowsOf(id), stored - 2);
    assert.equal(await sweepOldFigures(app.database, NOON_MS), 0);
  });

  it('404 for a neighbour, for what is no id, and once the Reactor is deleted; its rows are gone with it', async () => {
    const id = await make();
    await count(id, TODAY, { calls: 1 });
    const neighbour = await app.makeTenant();
    for (const { status, json } of [
      await metrics(id, { key: neighbour.key }),
      await metrics(newId()),
      await metrics('no-id'),
    ]) {
      assert.deepEqual([status, json.code], [404, 'not_found']);
    }
    assert.equal((await app.call('DELETE', `/reactors/${id}`, { key: tenant.key })).status, 204);
    assert.equal((await metrics(id)).status, 404);
    assert.equal(await rowsOf(id), 0);
    await count(id, TODAY, { calls: 1 });
    assert.equal(await rowsOf(id), 0, 'runs that end after it leave nothing behind');
  });

  it('a neighbour that counts for a Reactor that is not its own changes nothing', async () => {
    const id = await make();
    const neighbour = await app.makeTenant();
    const growth = { tenantId: neighbour.id, definitionId: id, day: TODAY, figure: 'calls', count: 1 };
    await app.database.write(neighbour.id, (tx) => addReactorFigures(tx, [growth]));
    await app.database.write(neighbour.id, (tx) => addReactorFigures(tx, [{ ...growth, tenantId: tenant.id }]));
    assert.equal((await metrics(id)).json.total.calls, 0);
  });

  it('403 without reactor:read', async () => {
    const key = await app.makeKey(tenant.id, 'management', ['reactor:create']);
    assert.equal((await metrics(await make(), { key })).status, 403);
  });

  it('counts the runs of two processes by what became of them, at once for the one that ran them', async () => {
    const second = await startTestApp({
      clock: createFakeClock(NOON_MS),
      beside: { db: app.db, rootKey: rootKeyOf(app) },
    });
    const id = await make(
      `const { BadRequestError } = require('strongroom-errors');
         module.exports = ({ args }) => {
           if (args.throws === 'bad') throw new BadRequestError('no');
           if (args.throws === 'own') throw new Error('no');
           return args.tokenize ? { tokenize: { type: 'nothing', data: 1 } } : { raw: 1 };
         }`,
    );
    const broken = await make('module.exports = ');
    const key = await app.makeKey(tenant.id, 'private', ['token:create', 'token:use']);
    const react = async (from: TestApp, args: object, reactor = id) =>
      (await from.call('POST', `/reactors/${reactor}/react`, { key, body: { args } })).status;
    try {
      const statuses = [
        ...[await react(app, {}), await react(app, {}), await react(app, { throws: 'bad' })],
        ...[await react(app, { throws: 'own' }), await react(app, { tokenize: true })],
      ];
      assert.deepEqual(statuses, [200, 200, 400, 500, 400]);
      const errors = { BadRequestError: 1, ReactorRuntimeError: 1, refused: 1 };
      const first = (await metrics(id)).json.total;
      assert.deepEqual([first.calls, first.errors, first.cold_starts], [5, errors, 1]);
      assert.ok(first.p50_ms <= first.p99_ms);
      assert.deepEqual([await react(second, {}), await react(second, { throws: 'bad' })], [200, 400]);
      const both = (await metrics(id, { from: second })).json.total;
      assert.deepEqual([both.calls, both.errors, both.cold_starts], [7, { ...errors, BadRequestError: 2 }, 2]);
      assert.equal(await react(app, {}, broken), 422);
      assert.deepEqual((await metrics(broken)).json.total.errors, { invalid_code: 1 });
      assert.equal(await react(second, {}), 200);
    } finally {
      await second.close();
    }
    assert.equal((await metrics(id)).json.total.calls, 8, 'a stop writes what was counted');
  });
});
