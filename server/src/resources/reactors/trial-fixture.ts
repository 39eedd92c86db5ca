import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
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

/** A request on a Reactor made for it. */
const on =
  (path: string, body?: object) =>
  async (app: TestApp, tenant: TestTenant): Promise<Success> => ({
    path: `/reactors/${await madeReactor(app, tenant)}${path}`,
    ...(body && { body }),
  });

const params = ({ reactorId = '' }: Targets) => ({ id: reactorId, version: '1' });
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

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/reactors', needs: 'reactor:read', status: 200 },
    { method: 'POST', path: '/reactors', needs: 'reactor:create', status: 201, body },
    { method: 'POST', path: '/reactors/test', needs: 'reactor:update', status: 200, body },
    ...SINGLE,
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
    'POST /reactors/:id/versions/:version/restore': on('/versions/1/restore'),
  },
  makeTargets: async (app, tenant) => ({ reactorId: await madeReactor(app, tenant) }),
  async populate(app, tenant, label) {
    if (!tenant) return { reactorId: randomUUID(), reactorCode: 'code-nobody' };
    const code = `code-${label}`;
    const reactorId = await madeReactor(app, tenant, { ...MADE, code, configuration: { LABEL: `setting-${label}` } });
    await app.db.owner.query(
      `INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count) VALUES ($1, $2, CURRENT_DATE - 7, 'calls', $3)`,
      [tenant.id, reactorId, label?.length],
    );
    return { reactorId, reactorCode: code };
  },
  fill: [
    `INSERT INTO reactors (tenant_id, id, name, version, sealed, created_at)
     SELECT $1, gen_random_uuid(), 'R', 2, '\\x00', '2030-01-31' FROM generate_series(1, $2::int / 100) n`,
    `INSERT INTO reactor_versions (tenant_id, reactor_id, version, sealed, created_at)
     SELECT $1, id, 1, '\\x00', '2030-01-31' FROM reactors WHERE tenant_id = $1 AND $2::int > 0`,
    `INSERT INTO reactor_figures (tenant_id, reactor_id, day, figure, count)
     SELECT $1, id, '2030-01-31', 'calls', 1 FROM reactors WHERE tenant_id = $1 AND $2::int > 0`,
  ],
  reads: (of) =>
    [
      '/reactors?size=100',
      `/reactors?id=${of.reactorId}`,
      '/reactors?name=Changed&page=2&size=1',
      '/reactors?name=C*d',
      `/reactors/${of.reactorId}`,
      `/reactors/${of.reactorId}/versions`,
      `/reactors/${of.reactorId}/metrics`,
    ].map((path) => ({ as: 'management', method: 'GET', path })),
  changes: ({ tenantId, applicationId, reactorId }) => {
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
  ],
};
