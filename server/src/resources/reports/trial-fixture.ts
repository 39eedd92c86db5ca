import type { SliceTrial } from '../../testing/slice-trial.js';

const PATH = '/tenants/self/reports/usage';

export const trial: SliceTrial = {
  routes: [{ method: 'GET', path: PATH, needs: 'report:read', status: 200 }],
  successes: {},
  reads: (of) => [PATH, `${PATH}?tenant_id=${of.tenantId}`].map((path) => ({ as: 'management', method: 'GET', path })),
  widened: ['find_token_counts'],
  tellsNothing: [`GET ${PATH}`],
};
