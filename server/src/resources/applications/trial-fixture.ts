import type { SliceTrial, Success, Targets, TriedRoute } from '../../testing/slice-trial.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';

const RIGHTS = { name: 'Made', permissions: ['token:read'] };
const MADE = { name: 'A', type: 'private', permissions: ['token:read'] };

async function madeApplication(app: TestApp, { key }: TestTenant): Promise<string> {
  return (await app.call('POST', '/applications', { key, body: MADE })).json.id;
}

/** A request on an Application made for it. */
const on =
  (path: string, body?: object) =>
  async (app: TestApp, tenant: TestTenant): Promise<Success> => ({
    path: `/applications/${await madeApplication(app, tenant)}${path}`,
    ...(body && { body }),
  });

const params = ({ applicationId, keyId }: Targets) => ({ id: applicationId, key_id: keyId });

const SINGLE: readonly TriedRoute[] = [
  { method: 'GET', path: '/applications/key', needs: 'any application key', status: 200 },
  { method: 'GET', path: '/applications/:id', needs: 'application:read', status: 200, params },
  {
    ...{ method: 'PUT', path: '/applications/:id', needs: 'application:update', status: 200, params },
    body: () => RIGHTS,
  },
  { method: 'POST', path: '/applications/:id/regenerate', needs: 'application:update', status: 200, params },
  { method: 'GET', path: '/applications/:id/keys', needs: 'application:read', status: 200, params },
  { method: 'POST', path: '/applications/:id/keys', needs: 'application:update', status: 201, params },
  { method: 'GET', path: '/applications/:id/keys/:key_id', needs: 'application:read', status: 200, params },
  { method: 'DELETE', path: '/applications/:id/keys/:key_id', needs: 'application:update', status: 204, params },
  { method: 'DELETE', path: '/applications/:id', needs: 'application:delete', status: 204, params },
];

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/applications', needs: 'application:read', status: 200 },
    {
      ...{ method: 'POST', path: '/applications', needs: 'application:create', status: 201 },
      body: () => ({ ...RIGHTS, type: 'private' }),
    },
    ...SINGLE,
  ],
  successes: {
    'POST /applications': () => ({ path: '/applications', body: MADE }),
    'PUT /applications/:id': on('', { name: 'B', permissions: ['token:read'] }),
    'POST /applications/:id/regenerate': on('/regenerate'),
    'POST /applications/:id/keys': on('/keys'),
  },
  reads: (of) =>
    [
      '/applications?size=100',
      '/applications?page=2&size=1',
      `/applications?id=${of.applicationId}`,
      `/applications?id=${of.applicationId}&type=private&tenant_id=${of.tenantId}`,
      '/applications/key',
      `/applications/${of.applicationId}`,
      `/applications/${of.applicationId}/keys`,
      `/applications/${of.applicationId}/keys/${of.keyId}`,
    ].map((path) => ({ as: 'management', method: 'GET', path })),
  changes: ({ tenantId, applicationId, keyId }) => {
    const body = { name: 'Taken over', permissions: ['token:read'], tenant_id: tenantId, id: applicationId };
    const one = `/applications/${applicationId}`;
    return [
      { as: 'management', method: 'POST', path: '/applications', body: { ...body, type: 'private' } },
      { as: 'management', method: 'PUT', path: one, body },
      { as: 'management', method: 'POST', path: `${one}/regenerate` },
      { as: 'management', method: 'POST', path: `${one}/keys` },
      { as: 'management', method: 'DELETE', path: `${one}/keys/${keyId}` },
      { as: 'management', method: 'DELETE', path: one },
    ];
  },
  widened: [
    ...['list_applications', 'count_applications', 'find_application_by_id', 'lock_application_by_id'],
    'list_api_keys',
  ],
  tellsNothing: ['GET /applications/key', 'POST /applications'],
};
