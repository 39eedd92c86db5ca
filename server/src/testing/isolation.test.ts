// needs: engine

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createRouter } from '../http/routes/router.js';
import { eventually } from './eventually.js';
import { idleRoutes } from './idle-routes.js';
import type { Pair, Populated } from './isolation-pair.js';
import { makePair, stored, unknownNames } from './isolation-pair.js';
import type { IsolationStep } from './isolation-walk.js';
import { leaksIn, sayings, walkIsolation } from './isolation-walk.js';
import { loadTrials } from './slice-trial.js';
import type { TestApp, TestTenant } from './test-app.js';
import { rootKeyOf, startTestApp } from './test-app.js';
import type { StatementWall } from './walls.js';
import { functionWallOff, rowSecurityOff, statementWallOff } from './walls.js';

const TRIALS = await loadTrials();
const WIDENED = TRIALS.flatMap(({ widened = [] }) => widened);

for (const { walls, isRowSecurityOn, areStatementsOn } of [
  { walls: 'both walls', isRowSecurityOn: true, areStatementsOn: true },
  { walls: 'the statements alone', isRowSecurityOn: false, areStatementsOn: true },
  { walls: 'row-level security alone', isRowSecurityOn: true, areStatementsOn: false },
]) {
  describe(`isolation by ${walls}`, () => {
    let app: TestApp;
    let pair: Pair;
    let wall: StatementWall | undefined;
    before(async () => {
      if (!areStatementsOn) wall = statementWallOff();
      // A change of B in the background, such as a counter, must not share a batch with one of A: the batch may see both.
      app = await startTestApp(areStatementsOn ? {} : { isByTenant: true });
      if (!areStatementsOn) await functionWallOff(app);
      if (!isRowSecurityOn) await rowSecurityOff(app);
      pair = await makePair(app);
    });
    after(async () => {
      await app.close();
      wall?.restore();
    });

    it('200 with exactly what A has: its own logs, applications, tokens, totals and report', async () => {
      const { a, b } = pair;
      const get = async (path: string, key = a.key) => (await app.call('GET', path, { key })).json;
      const { data, pagination } = await get('/logs?page=1&size=1000');
      assert.ok(data.every((row: { tenant_id: string }) => row.tenant_id === a.id));
      const counted = await app.db.owner.query('SELECT FROM logs WHERE tenant_id = $1', [a.id]);
      assert.deepEqual([data.length, pagination.total_items], [counted.rowCount, counted.rowCount]);
      assert.equal((await get('/applications')).pagination.total_items, 3);
      for (const { privateKey, tokens, key } of [a, b]) {
        const listed = await get('/tokens?size=100', privateKey);
        assert.deepEqual([listed.data.length, listed.pagination.total_items], [tokens, tokens]);
        const search = { key: privateKey, body: { query: 'type:card', size: 100 } };
        const found = (await app.call('POST', '/tokens/search', search)).json;
        assert.deepEqual([found.data.length, found.pagination.total_items], [1, 1]);
        const { token_report } = await get('/tenants/self/reports/usage', key);
        const { card, token } = token_report.metrics_by_type;
        // One more was active without being made this month.
        assert.deepEqual([card.count, token.count, token_report.monthly_active_tokens], [1, tokens - 1, tokens + 1]);
      }
    });

    it('a walk with the keys of A shows nothing of B and changes nothing of B, on every route', async () => {
      const untouched = await stored(app, pair.b);
      const steps = await walkIsolation(app, pair.a, pair.b.names);
      assert.deepEqual(leaksIn(steps, pair.secretsOfB), []);
      const statuses = new Set(steps.map(({ answer }) => answer.status));
      assert.deepEqual([...statuses].sort(), [200, 201, 204, 400, 404]);
      assert.equal(await stored(app, pair.b), untouched);
      const missing = WIDENED.filter((name) => wall && !wall.widened.has(name));
      assert.deepEqual(missing, [], 'not widened, so this run proves nothing about them');
      const walked = new Set(steps.map(routeOf(app)));
      // That one ends the tenant, further down.
      walked.add('DELETE /tenants/self');
      const forgotten = namesOf(app).filter((route) => !walked.has(route));
      assert.deepEqual(forgotten, []);
    });

    it('the answer is the same for what B has and for what nobody has', async () => {
      const { a, b } = await makePair(app);
      const nobody = await unknownNames(app);
      const told = sayings(await walkIsolation(app, a, nobody), nobody);
      assert.deepEqual(sayings(await walkIsolation(app, a, b.names), b.names), told);
    });

    // A merged batch has both tenants in its scope, so there row-level security alone cannot tell them apart.
    if (areStatementsOn) {
      it('200 and 201 for writes of both at once: each changes its own tenant and makes its own tokens', async () => {
        const { a, b } = await makePair(app);
        const rename = ({ key }: TestTenant, name: string) => app.call('PUT', '/tenants/self', { key, body: { name } });
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => [rename(a, 'Only A'), rename(b, 'Only B')]).flat(),
        );
        const seen = new Set(answers.map(({ json }) => `${json.id} ${json.name}`));
        assert.deepEqual(seen, new Set([`${a.id} Only A`, `${b.id} Only B`]));
        const make = (tenant: Populated, n: number) => {
          // Worked out rather than named: only such an id gives way to a token that is there already.
          const body = { id: `{{ 'same-${n}' }}`, data: `of ${tenant.id}`, deduplicate_token: true };
          return app.call('POST', '/tokens', { key: tenant.privateKey, body });
        };
        const made = await Promise.all(Array.from({ length: 10 }, (_, n) => [make(a, n), make(b, n)]).flat());
        for (const { status, json } of made) assert.deepEqual([status, json.data], [201, `of ${json.tenant_id}`]);
        const holders = new Set(made.map(({ json }) => `${json.tenant_id} ${json.id}`));
        assert.equal(holders.size, 2, 'one token a tenant stands for the value, and its id is the tenant’s own');
        const remove = ({ privateKey }: Populated, id: string) =>
          app.call('DELETE', `/tokens/${id}`, { key: privateKey });
        const idOf = (tenant: Populated) => made.find(({ json }) => json.tenant_id === tenant.id)?.json.id;
        const gone = await Promise.all([remove(a, idOf(a)), make(b, 10)]);
        assert.deepEqual(
          gone.map(({ status }) => status),
          [204, 201],
        );
        assert.equal((await app.call('GET', `/tokens/${idOf(b)}`, { key: b.privateKey })).status, 200);
      });

      it('200 for reads of both at once under the same id: each sees its own token', async () => {
        const { a, b } = await makePair(app);
        const id = 'same-id';
        const post = ({ privateKey }: Populated, path: string, body: unknown) =>
          app.call('POST', path, { key: privateKey, body });
        for (const tenant of [a, b]) await post(tenant, '/tokens', { id, data: `of ${tenant.id}` });
        const ask = async (tenant: Populated): Promise<void> => {
          const read = (path: string) => app.call('GET', path, { key: tenant.privateKey });
          const [one, list, back, found] = await Promise.all([
            read(`/tokens/${id}`),
            read(`/v2/tokens?id=${id}`),
            post(tenant, '/detokenize', [`{{ ${id} }}`]),
            post(tenant, '/tokens/search', { query: `id:${id}` }),
          ]);
          const told = [one.json.data, list.json.data[0].data, back.json[0], found.json.data[0].data];
          assert.deepEqual(told, Array(4).fill(`of ${tenant.id}`));
          assert.deepEqual([list.json.data.length, found.json.pagination.total_items], [1, 1]);
        };
        await Promise.all(Array.from({ length: 20 }, () => [ask(a), ask(b)]).flat());
        for (const tenant of [a, b]) {
          const logs = (await app.call('GET', `/logs?entity_id=${id}&size=1000`, { key: tenant.key })).json.data;
          assert.equal(logs.length, 1 + 20 * 4, 'each is in the log of its own tenant');
        }
      });
    }

    it('204 for deleting A: after the purge no row of A is left but its log, which nobody reads, and B has every row', async () => {
      const untouched = await stored(app, pair.b);
      assert.equal((await app.call('DELETE', '/tenants/self', { key: pair.a.key })).status, 204);
      // The log stays for the operator, and the tenant's own row with it as a tombstone.
      await eventually('A is purged', async () => !/^(?!tenants |logs )\w+ [1-9]/m.test(await stored(app, pair.a)));
      assert.equal(await stored(app, pair.b), untouched);
      for (const key of [pair.a.key, pair.a.privateKey, pair.a.publicKey, pair.a.sessionKey]) {
        assert.equal((await app.call('GET', '/permissions', { key })).status, 401);
      }
      assert.equal((await app.call('GET', '/tenants/self', { key: pair.b.key })).json.name, 'Name bravo');
      const token = await app.call('GET', `/tokens/${pair.b.names.alias}`, { key: pair.b.privateKey });
      assert.equal(token.json.data, 'data-bravo');
    });
  });
}

const TELLING_NOTHING = TRIALS.flatMap(({ tellsNothing = [] }) => tellsNothing);

describe('isolation without any wall', () => {
  let first: TestApp;
  let app: TestApp;
  let wall: StatementWall;
  let pair: Pair;
  let walled: IsolationStep[];
  before(async () => {
    first = await startTestApp();
    const other = await makePair(first);
    walled = await walkIsolation(first, other.a, other.b.names);
    pair = await makePair(first);
    await rowSecurityOff(first);
    await functionWallOff(first);
    wall = statementWallOff();
    // Statements are prepared once a connection, so the open ones would stay as they are.
    app = await startTestApp({ beside: { db: first.db, rootKey: rootKeyOf(first) } });
  });
  after(async () => {
    await app.close();
    wall.restore();
    await first.close();
  });

  it('a report counts what is not the tenant’s: the figures above can be wrong', async () => {
    const { json } = await app.call('GET', '/tenants/self/reports/usage', { key: pair.a.key });
    assert.notEqual(json.token_report.metrics_by_type.token.count, pair.a.tokens - 1);
    assert.notEqual(json.token_report.monthly_active_tokens, pair.a.tokens + 1);
  });

  it('every route tells or does something else: the walk above can fail on each of them', async () => {
    const untouched = await stored(app, pair.b);
    const steps = await walkIsolation(app, pair.a, pair.b.names);
    const nameOf = routeOf(app);
    const telling = steps.filter((step, n) => {
      const isLeaking = leaksIn([step], pair.secretsOfB).length > 0;
      return isLeaking || step.answer.status !== walled[n]?.answer.status;
    });
    const told = new Set(telling.map(nameOf));
    assert.deepEqual(
      namesOf(app)
        .filter((route) => !told.has(route))
        .sort(),
      [...TELLING_NOTHING].sort(),
    );
    const leaks = leaksIn(steps, pair.secretsOfB).join('\n');
    for (const name of [pair.b.id, pair.b.names.applicationId, pair.b.names.keyId, 'message-bravo']) {
      assert.ok(leaks.includes(name), `${name} did not leak`);
    }
    assert.ok(!leaks.includes(pair.b.names.dataValue), 'what is sealed opens for its own tenant alone, all the same');
    const now = await stored(app, pair.b);
    for (const table of ['tenants', 'applications', 'api_keys', 'sessions']) {
      const lineOf = (text: string) => text.split('\n').find((line) => line.startsWith(`${table} `));
      assert.notEqual(lineOf(now), lineOf(untouched), `${table} did not change`);
    }
  });
});

function namesOf(app: TestApp): string[] {
  return idleRoutes(app).map(({ method, path }) => `${method} ${path}`);
}

/** The route a step of the walk went through, if there is one. */
function routeOf(app: TestApp): (step: IsolationStep) => string | undefined {
  const router = createRouter(idleRoutes(app).map((route) => ({ ...route, target: `${route.method} ${route.path}` })));
  return ({ request: { method, path } }) => router(path.split('?')[0] ?? '')?.byMethod.get(method);
}
