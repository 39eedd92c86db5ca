import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { eventually } from '../../testing/eventually.js';
import type { SliceTrial, Success, Targets, TriedRoute } from '../../testing/slice-trial.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';

const MADE = { name: 'Made', code: 'module.exports = () => ({})' };

/** One that has a version behind it. */
async function madeReactor(app: TestApp, { key }: Pick<TestTenant, 'key'>, body: object = MADE): Promise<string> {
  const { status, json, text } = await app.call('POST', '/reactors', { key, body });
  assert.equal(status, 201, text);
  assert.equal((await app.call('PATCH', `/reactors/${json.id}`, { key, body: { name: 'Changed' } })).status, 204);
  return json.id;
}

/** A call of a Reactor that is over, so that nothing in the background changes it. Nobody opens what it says. */
async function madeRequest(app: TestApp, tenantId: string, reactorId: string): Promise<string> {
  const { rows } = await app.db.owner.query(
    `INSERT INTO reactor_requests (tenant_id, id, reactor_id, state, has_run, has_callback, actor_type, actor_id, timeout_ms,
       attempt, tries, due_at, created_at, expires_at, version, bytes, sealed)
     VALUES ($1, gen_random_uuid(), $2, 'done', true, false, 'application', gen_random_uuid(), 30000, 1, 0, now(), now(),
       '2999-01-01', 2, 1, '\\x00') RETURNING id`,
    [tenantId, reactorId],
  );
  return rows[0].id;
}

/** One that was run for this caller, and stays in the list as if it had failed. */
async function failedRequest(app: TestApp, key: string, reactorId: string): Promise<string> {
  const asked = await app.call('POST', `/reactors/${reactorId}/react-async`, { key, body: {} });
  assert.equal(asked.status, 202, asked.text);
  const requestId = asked.json.asyncReactorRequestId;
  await eventually('it ran', async () => {
    return (await app.call('GET', `/reactors/${reactorId}/results/${requestId}`, { key })).status !== 404;
  });
  await app.db.owner.query("UPDATE reactor_requests SET state = 'failed' WHERE id = $1", [requestId]);
  return requestId;
}

/** A request on a call of a Reactor made for it. */
const onRequest =
  (verb: string) =>
  async (app: TestApp, tenant: TestTenant): Promise<Success> => {
    const reactorId = await madeReactor(app, tenant);
    return { path: `/reactors/${reactorId}/requests/${await madeRequest(app, tenant.id, reactorId)}/${verb}` };
  };

/** A request on a Reactor made for it. */
const on =
  (path: string, body?: object) =>
  async (app: TestApp, tenant: TestTenant): Promise<Success> => ({
    path: `/reactors/${await madeReactor(app, tenant)}${path}`,
    ...(body && { body }),
  });

const params = ({ reactorId = '', requestId = '' }: Targets) => ({
  id: reactorId,
  version: '1',
  request_id: requestId,
});
/** Nobody has it, so nothing is run behind the tests. */
const unknownReactor = () => ({ id: randomUUID(), request_id: randomUUID() });
const body = () => MADE;

const SINGLE: readonly TriedRoute[] = [
  { method: 'GET', path: '/reactors/:id', needs: 'reactor:read', status: 200, params },
  { method: 'PUT', path: '/reactors/:id', needs: 'reactor:update', status: 200, params, body },
  { method: 'PATCH', path: '/reactors/:id', needs: 'reactor:update', status: 204, params, body },
  { method: 'POST', path: '/reactors/:id/callback-secret', needs: 'reactor:update', status: 200, params },
  { method: 'GET', path: '/reactors/:id/versions', needs: 'reactor:read', status: 200, params },
  { method: 'GET', path: '/reactors/:id/metrics', needs: 'reactor:read', status: 200, params },
  { method: 'POST', path: '/reactors/:id/versions/:version/restore', needs: 'reactor:update', status: 200, params },
  {
    method: 'POST',
    path: '/reactors/:id/react',
    needs: 'token:use',
    status: 200,
    params,
    body: () => ({}),
    leavesTarget: true,
  },
  {
    method: 'POST',
    path: '/reactors/:id/test',
    needs: 'reactor:update',
    status: 200,
    params,
    body: () => ({}),
    leavesTarget: true,
  },
  { method: 'DELETE', path: '/reactors/:id', needs: 'reactor:delete', status: 204, params },
];

const QUEUED: readonly TriedRoute[] = [
  {
    ...{ method: 'POST', path: '/reactors/:id/react-async', needs: 'token:use', status: 202, toOthers: 404 },
    params: unknownReactor,
    leavesTarget: true,
  },
  {
    ...{ method: 'GET', path: '/reactors/:id/results/:request_id', needs: 'token:use', status: 200, toOthers: 404 },
    params: unknownReactor,
  },
  { method: 'GET', path: '/reactors/:id/requests', needs: 'reactor:read', status: 200, params },
  { method: 'POST', path: '/reactors/:id/requests/:request_id/retry', needs: 'reactor:update', status: 200, params },
  { method: 'POST', path: '/reactors/:id/requests/:request_id/cancel', needs: 'reactor:update', status: 200, params },
];

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/reactors', needs: 'reactor:read', status: 200 },
    { method: 'POST', path: '/reactors', needs: 'reactor:create', status: 201, body },
    { method: 'POST', path: '/reactors/test', needs: 'reactor:update', status: 200, body },
    ...SINGLE,
    ...QUEUED,
  ],
  successes: {
    'POST /reactors': () => ({ path: '/reactors', body: MADE }),
    'PUT /reactors/:id': on('', { ...MADE, name: 'B' }),
    'PATCH /reactors/:id': on('', { name: 'B' }),
    'POST /reactors/:id/callback-secret': on('/callback-secret'),
    'POST /reactors/:id/react': async (app, tenant) => ({
      path: `/reactors/${await madeReactor(app, tenant)}/react`,
      body: {},
      key: await app.makeKey(tenant.id, 'private', ['token:use']),
    }),
    'POST /reactors/:id/react-async': async (app, tenant) => ({
      path: `/reactors/${await madeReactor(app, tenant)}/react-async`,
      body: {},
      key: await app.makeKey(tenant.id, 'private', ['token:use']),
    }),
    'POST /reactors/:id/requests/:request_id/retry': onRequest('retry'),
    'POST /reactors/:id/requests/:request_id/cancel': onRequest('cancel'),
    'POST /reactors/:id/versions/:version/restore': on('/versions/1/restore'),
  },
  makeTargets: async (app, tenant) => {
    const reactorId = await madeReactor(app, tenant);
    return { reactorId, requestId: await madeRequest(app, tenant.id, reactorId) };
  },
  async populate(app, tenant, label) {
    if (!tenant) return { reactorId: randomUUID(), reactorCode: 'code-nobody', requestId: randomUUID() };
    const code = `code-${label}`;
    const reactorId = await madeReactor(app, tenant, { ...MADE, code, configuration: { LABEL: `setting-${label}` } });
    await app.db.owner.query(
      `INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count) VALUES ($1, $2, CURRENT_DATE - 7, 'calls', $3)`,
      [tenant.id, reactorId, label?.length],
    );
    return { reactorId, reactorCode: code, requestId: await failedRequest(app, tenant.privateKey, reactorId) };
  },
  fill: [
    `INSERT INTO reactors (tenant_id, id, name, version, sealed, created_at)
     SELECT $1, gen_random_uuid(), 'R', 2, '\\x00', '2030-01-31' FROM generate_series(1, $2::int / 100) n`,
    `INSERT INTO reactor_versions (tenant_id, reactor_id, version, sealed, created_at)
     SELECT $1, id, 1, '\\x00', '2030-01-31' FROM reactors WHERE tenant_id = $1 AND $2::int > 0`,
    `INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count)
     SELECT $1, id, '2030-01-31', 'calls', 1 FROM reactors WHERE tenant_id = $1 AND $2::int > 0`,
    `INSERT INTO reactor_requests (tenant_id, id, reactor_id, state, has_run, has_callback, actor_type, actor_id, timeout_ms,
       attempt, tries, due_at, created_at, version, bytes, sealed)
     SELECT $1, gen_random_uuid(), id, 'failed', false, false, 'application', id, 30000, 1, 5, '2030-01-31', '2030-01-31', 1, 1,
       '\\x00' FROM reactors WHERE tenant_id = $1 AND $2::int > 0`,
  ],
  reads: (of) => [
    { as: 'private', method: 'GET', path: `/reactors/${of.reactorId}/results/${of.requestId}` },
    ...[
      '/reactors?size=100',
      `/reactors?id=${of.reactorId}`,
      '/reactors?name=Changed&page=2&size=1',
      '/reactors?name=C*d',
      `/reactors/${of.reactorId}`,
      `/reactors/${of.reactorId}/versions`,
      `/reactors/${of.reactorId}/metrics`,
      `/reactors/${of.reactorId}/requests?size=100`,
    ].map((path) => ({ as: 'management', method: 'GET', path }) as const),
  ],
  changes: ({ tenantId, applicationId, reactorId, requestId }) => {
    const taken = { ...MADE, tenant_id: tenantId, id: reactorId };
    const one = `/reactors/${reactorId}`;
    return [
      { as: 'management', method: 'POST', path: '/reactors', body: taken },
      { as: 'management', method: 'POST', path: '/reactors', body: { ...taken, application: { id: applicationId } } },
      { as: 'management', method: 'PUT', path: one, body: taken },
      { as: 'management', method: 'PATCH', path: one, body: taken },
      { as: 'management', method: 'POST', path: `${one}/callback-secret` },
      { as: 'management', method: 'POST', path: `${one}/versions/1/restore` },
      { as: 'private', method: 'POST', path: `${one}/react`, body: {} },
      { as: 'private', method: 'POST', path: `${one}/react-async`, body: {} },
      { as: 'management', method: 'POST', path: `${one}/requests/${requestId}/retry` },
      { as: 'management', method: 'POST', path: `${one}/requests/${requestId}/cancel` },
      { as: 'management', method: 'POST', path: `${one}/test`, body: {} },
      {
        as: 'management',
        method: 'POST',
        path: '/reactors/test',
        body: { code: 'module.exports = () => ({})', args: {} },
      },
      { as: 'management', method: 'DELETE', path: one },
    ];
  },
  tellsNothing: ['POST /reactors/test'],
  widened: [
    ...['list_reactors', 'list_reactors_by_name', 'count_reactors', 'count_reactors_by_name'],
    ...['find_reactor_id', 'list_reactor_figures'],
    ...['find_reactor', 'lock_reactor', 'list_reactor_versions', 'list_applications_by_id'],
    ...['find_reactor_request', 'lock_reactor_request', 'list_reactor_requests', 'count_reactor_requests'],
    'insert_reactor_request',
  ],
};
