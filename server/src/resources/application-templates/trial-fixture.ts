import type { SliceTrial } from '../../testing/slice-trial.js';

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/application-templates', needs: 'any key', status: 200 },
    {
      ...{ method: 'GET', path: '/application-templates/:id', needs: 'any key', status: 200 },
      params: ({ templateId }) => ({ id: templateId }),
    },
  ],
  successes: {},
  reads: (of) =>
    ['/application-templates', `/application-templates/${of.applicationId}`].map((path) => ({
      as: 'management',
      method: 'GET',
      path,
    })),
  tellsNothing: ['GET /application-templates', 'GET /application-templates/:id'],
};
