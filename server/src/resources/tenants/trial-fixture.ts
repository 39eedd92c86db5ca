import type { SliceTrial } from '../../testing/slice-trial.js';

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/tenants/self', needs: 'tenant:read', status: 200 },
    {
      ...{ method: 'PUT', path: '/tenants/self', needs: 'tenant:update', status: 200 },
      body: () => ({ name: 'Renamed' }),
    },
    { method: 'DELETE', path: '/tenants/self', needs: 'tenant:delete', status: 204, endsTenant: true },
  ],
  successes: { 'PUT /tenants/self': () => ({ path: '/tenants/self', body: { name: 'Renamed' } }) },
  reads: (of) =>
    ['/tenants/self', `/tenants/self?id=${of.tenantId}`, `/tenants/${of.tenantId}`].map((path) => ({
      as: 'management',
      method: 'GET',
      path,
    })),
  changes: ({ tenantId }) => {
    const settings = { fingerprint_tokens: 'true' };
    const body = { name: 'Renamed by A', id: tenantId, tenant_id: tenantId, settings };
    return [
      { as: 'management', method: 'PUT', path: '/tenants/self', body },
      { as: 'management', method: 'PUT', path: `/tenants/${tenantId}`, body },
      { as: 'management', method: 'DELETE', path: `/tenants/${tenantId}` },
    ];
  },
  widened: ['update_tenant', 'find_tenant_by_id'],
  tellsNothing: ['PUT /tenants/self', 'DELETE /tenants/self'],
};
