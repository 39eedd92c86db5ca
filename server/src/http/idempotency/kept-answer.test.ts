import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import Type from 'typebox';
import { systemClock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import { keptRows, underKey } from '../../testing/keyed-puts.js';
import type { RouteServer } from '../../testing/route-server.js';
import { CALLER, startRouteServer } from '../../testing/route-server.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import type { RouteRequest } from '../routes/route.js';
import { defineRoute } from '../routes/route.js';
import { createRunOnce } from './idempotency.js';

type Request = RouteRequest<unknown, unknown, unknown>;

/** Routes of every shape an answer can have, which count how often they really ran. */
describe('what is kept of an answer', () => {
  let app: TestApp;
  let server: RouteServer;
  let tenant: TestTenant;
  let runs = 0;

  /** A handler that keeps what it returns, in a transaction of its own. */
  const kept =
    (make: () => unknown) =>
    ({ auditContext }: Request): Promise<unknown> => {
      runs += 1;
      return app.database.write(tenant.id, async (tx) => {
        const value = make();
        await auditContext.keepAnswer?.(tx, value);
        return value;
      });
    };

  const base = {
    method: 'POST',
    permission: 'any key',
    admits: ['application'],
    limits: [],
    tag: 'T',
    summary: 'S',
    description: 'D',
  } as const;
  const Made = Type.Object({
    id: Type.String(),
    key: Type.Optional(Type.String()),
    keys: Type.Optional(Type.Array(Type.Object({ id: Type.String(), key: Type.Optional(Type.String()) }))),
  });
  const ROUTES = [
    defineRoute({
      ...base,
      path: '/secrets',
      status: 201,
      response: Made,
      secretFields: ['key'],
      location: ({ id }) => `/secrets/${id}`,
      handle: kept(() => ({ key: `secret ${runs}`, id: `made ${runs}`, keys: [{ key: `secret ${runs}`, id: 'k' }] })),
    }),
    ...([200, 201, 202, 204] as const).map((status) =>
      defineRoute({ ...base, path: `/empty/${status}`, status, handle: kept(() => undefined) }),
    ),
    defineRoute({ ...base, path: '/things/:id', status: 200, response: Made, handle: kept(() => ({ id: `${runs}` })) }),
    defineRoute({
      ...base,
      path: '/unkept',
      status: 200,
      response: Made,
      handle: () => ({ id: `${++runs}` }),
    }),
    defineRoute({
      ...base,
      path: '/overtaken',
      status: 200,
      response: Made,
      handle: async (request) => {
        // Stands for another process: its effect and its answer are committed when this one gets to its own.
        await kept(() => ({ id: 'of the other' }))(request);
        throw new AppError('token_id_conflict', 'The id is taken.');
      },
    }),
    defineRoute({
      ...base,
      path: '/conflict',
      status: 200,
      handle: () => {
        runs += 1;
        throw new AppError('token_id_conflict', 'The id is taken.');
      },
    }),
  ];

  before(async () => {
    app = await startTestApp();
    const runOnce = createRunOnce({ database: app.database, keyring: app.keyStore.keyring, clock: systemClock });
    server = await startRouteServer(ROUTES, { runOnce, authenticate: () => ({ ...CALLER, tenantId: tenant.id }) });
  });
  after(async () => {
    await server.close();
    await app.close();
  });
  beforeEach(async () => {
    runs = 0;
    server.faults.length = 0;
    tenant = await app.makeTenant();
  });

  const post = (path: string, key = 'key one') => server.call('POST', path, { key, headers: underKey('k') });

  it('201 with the secret and the Location again, byte for byte, for the credential that was shown it', async () => {
    const first = await post('/secrets');
    assert.match(first.text, /^\{"id":"made 1","key":"secret 1"/);
    const again = await post('/secrets');
    assert.deepEqual([again.status, again.text], [201, first.text]);
    assert.equal(again.headers.get('location'), '/secrets/made 1');
    assert.equal(runs, 1);
  });

  it('201 without the secret, at any depth, for another key of the same application', async () => {
    await post('/secrets');
    const other = await post('/secrets', 'key two');
    assert.deepEqual([other.status, other.json], [201, { id: 'made 1', keys: [{ id: 'k' }] }]);
    assert.equal(other.headers.get('location'), '/secrets/made 1');
    assert.match((await post('/secrets')).text, /secret 1/);
    assert.equal(runs, 1);
  });

  it('replays an answer without a body under each status, and one for each path', async () => {
    for (const status of [200, 201, 202, 204]) {
      for (const answer of [await post(`/empty/${status}`), await post(`/empty/${status}`)]) {
        assert.deepEqual([answer.status, answer.text], [status, '']);
        assert.equal(answer.headers.get('content-length'), status === 204 ? null : '0');
      }
    }
    assert.equal(runs, 4);
    const ids = [await post('/things/a'), await post('/things/b'), await post('/things/a')].map(({ json }) => json.id);
    assert.deepEqual(ids, ['5', '6', '5']);
  });

  it('tells the operator of a route that did not keep its answer, and answers all the same', async () => {
    assert.equal((await post('/unkept')).status, 200);
    assert.match(String(server.faults[0]), /POST \/unkept did not keep its answer/);
    assert.deepEqual(await keptRows(app, tenant.id), []);
  });

  it('200 with the other answer when what another process made is in the way', async () => {
    const { status, json } = await post('/overtaken');
    assert.deepEqual([status, json], [200, { id: 'of the other' }]);
  });

  it('409 of its own stays what it is when nobody else has the answer, and is not stored', async () => {
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const { status, json } = await post('/conflict');
      assert.deepEqual([status, json.code], [409, 'token_id_conflict']);
      assert.equal(runs, attempt);
    }
  });
});
