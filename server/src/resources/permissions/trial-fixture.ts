import type { SliceTrial } from '../../testing/slice-trial.js';

export const trial: SliceTrial = {
  routes: [{ method: 'GET', path: '/permissions', needs: 'any key', status: 200 }],
  successes: {},
  reads: () => [{ as: 'management', method: 'GET', path: '/permissions' }],
  tellsNothing: ['GET /permissions'],
};
