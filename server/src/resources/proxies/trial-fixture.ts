import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SliceTrial, Success, Targets, TriedRoute } from '../../testing/slice-trial.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';

const MADE = { name: 'Made', destination_url: 'https://made.example/base' };

/** One that has a version behind it. */
async function madeProxy(
  app: TestApp,
  { key }: Pick<TestTenant, 'key'>,
  body: object = MADE,
): Promise<{ readonly id: string; readonly key: string }> {
  const { status, json, text } = await app.call('POST', '/proxies', { key, body });
  assert.equal(status, 201, text);
  assert.equal((await app.call('PATCH', `/proxies/${json.id}`, { key, body: { name: 'Changed' } })).status, 204);
  return json;
}

/** A request on a Proxy made for it. */
const on =
  (path: string, body?: object) =>
  async (app: TestApp, tenant: TestTenant): Promise<Success> => ({
    path: `/proxies/${(await madeProxy(app, tenant)).id}${path}`,
    ...(body && { body }),
  });

const params = ({ proxyId = '' }: Targets) => ({ id: proxyId, version: '1' });
const body = () => MADE;

const PREVIEWED = { method: 'POST', path: '/x', body: { n: '{{ some-token }}' } };
const PREVIEW = {
  method: 'POST',
  needs: 'token:use or proxy:update',
  status: 200,
  leavesTarget: true,
} as const;

const SINGLE: readonly TriedRoute[] = [
  { method: 'GET', path: '/proxies/:id', needs: 'proxy:read', status: 200, params },
  { method: 'PUT', path: '/proxies/:id', needs: 'proxy:update', status: 200, params, body },
  { method: 'PATCH', path: '/proxies/:id', needs: 'proxy:update', status: 204, params, body },
  { method: 'POST', path: '/proxies/:id/regenerate', needs: 'proxy:update', status: 200, params },
  { method: 'GET', path: '/proxies/:id/versions', needs: 'proxy:read', status: 200, params },
  { method: 'GET', path: '/proxies/:id/metrics', needs: 'proxy:read', status: 200, params },
  { method: 'POST', path: '/proxies/:id/versions/:version/restore', needs: 'proxy:update', status: 200, params },
  { ...PREVIEW, path: '/proxies/:id/preview', params, body: () => PREVIEWED },
  { method: 'DELETE', path: '/proxies/:id', needs: 'proxy:delete', status: 204, params },
];

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/proxies', needs: 'proxy:read', status: 200 },
    { method: 'POST', path: '/proxies', needs: 'proxy:create', status: 201, body },
    { ...PREVIEW, path: '/proxies/preview', body: () => ({ ...PREVIEWED, destination_url: MADE.destination_url }) },
    ...SINGLE,
  ],
  successes: {
    'POST /proxies': () => ({ path: '/proxies', body: MADE }),
    'PUT /proxies/:id': on('', { ...MADE, name: 'B' }),
    'PATCH /proxies/:id': on('', { name: 'B' }),
    'POST /proxies/:id/regenerate': on('/regenerate'),
    'POST /proxies/:id/versions/:version/restore': on('/versions/1/restore'),
  },
  makeTargets: async (app, tenant) => ({ proxyId: (await madeProxy(app, tenant)).id }),
  async populate(app, tenant, label) {
    if (!tenant)
      return { proxyId: randomUUID(), proxyKey: `key_prx_${'0'.repeat(32)}`, proxyUrl: 'https://no.example' };
    const proxyUrl = `https://${label}.example/base`;
    const code = { code: `transform-${label}` };
    const { id: proxyId, key: proxyKey } = await madeProxy(app, tenant, {
      ...{ name: 'Made', destination_url: proxyUrl, request_transform: code, response_transform: code },
      configuration: { LABEL: `proxy-setting-${label}` },
    });
    await app.db.owner.query(
      `INSERT INTO proxy_figures (tenant_id, proxy_id, day, figure, count) VALUES ($1, $2, CURRENT_DATE - 7, 'calls', $3)`,
      [tenant.id, proxyId, label?.length],
    );
    return { proxyId, proxyKey, proxyUrl };
  },
  fill: [
    `INSERT INTO proxies (tenant_id, id, name, key_hash, version, sealed, created_at)
     SELECT $1, gen_random_uuid(), 'P', decode(md5(n::text), 'hex'), 2, '\\x00', '2030-01-31'
     FROM generate_series(1, $2::int / 100) n`,
    `INSERT INTO proxy_versions (tenant_id, proxy_id, version, sealed, created_at)
     SELECT $1, id, 1, '\\x00', '2030-01-31' FROM proxies WHERE tenant_id = $1 AND $2::int > 0`,
    `INSERT INTO proxy_figures (tenant_id, proxy_id, day, figure, count)
     SELECT $1, id, '2030-01-31', 'calls', 1 FROM proxies WHERE tenant_id = $1 AND $2::int > 0`,
  ],
  reads: (of) =>
    [
      '/proxies?size=100',
      `/proxies?id=${of.proxyId}`,
      '/proxies?name=Changed&page=2&size=1',
      '/proxies?name=C*d',
      `/proxies?name=${of.proxyKey}`,
      `/proxies/${of.proxyId}`,
      `/proxies/${of.proxyId}/versions`,
      `/proxies/${of.proxyId}/metrics`,
    ].map((path) => ({ as: 'management', method: 'GET', path }) as const),
  changes: ({ tenantId, applicationId, proxyId, proxyKey, tokenId }) => {
    const asked = { ...PREVIEWED, body: { n: `{{ ${tokenId} }}` } };
    const taken = { ...MADE, tenant_id: tenantId, id: proxyId, key: proxyKey };
    const one = `/proxies/${proxyId}`;
    return [
      { as: 'management', method: 'POST', path: '/proxies', body: taken },
      { as: 'management', method: 'POST', path: '/proxies', body: { ...taken, application: { id: applicationId } } },
      { as: 'management', method: 'POST', path: '/proxies', body: { ...taken, application_id: applicationId } },
      { as: 'management', method: 'PUT', path: one, body: taken },
      { as: 'management', method: 'PATCH', path: one, body: taken },
      { as: 'management', method: 'POST', path: `${one}/regenerate` },
      { as: 'management', method: 'POST', path: `${one}/versions/1/restore` },
      { as: 'management', method: 'POST', path: `${one}/preview`, body: asked },
      { as: 'private', method: 'POST', path: `${one}/preview`, body: asked },
      {
        as: 'private',
        method: 'POST',
        path: '/proxies/preview',
        body: { ...asked, destination_url: 'https://a.example' },
      },
      { as: 'management', method: 'DELETE', path: one },
    ];
  },
  widened: [
    ...['list_proxies', 'list_proxies_by_name', 'count_proxies', 'count_proxies_by_name'],
    ...['find_proxy_id', 'list_proxy_figures', 'find_proxy', 'lock_proxy', 'list_proxy_versions'],
  ],
};
