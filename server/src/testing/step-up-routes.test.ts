import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allRoutes } from './contract/document.js';

/**
 * What a stolen session may change without a fresh sign-in: nothing that gives rights, shows a secret, or decides where data goes
 * and what code sees it. Taking something away needs none: whoever has to stop an attack must not be stopped.
 */
const WITHOUT_STEP_UP = [
  'DELETE /applications/:id',
  'DELETE /applications/:id/keys/:key_id',
  'DELETE /proxies/:id',
  'DELETE /reactors/:id',
  'DELETE /tenants/self/invitations/:id',
  'DELETE /tenants/self/members/:id',
  'POST /proxies/:id/preview',
  'POST /proxies/preview',
  'POST /reactors/:id/requests/:request_id/cancel',
  'POST /reactors/:id/requests/:request_id/retry',
  'PUT /tenants/self',
];

describe('a session whose sign-in is long ago', () => {
  it('changes these few things alone', () => {
    const open = allRoutes().filter(
      ({ method, admits, stepUp }) =>
        method !== 'GET' && admits !== 'anyone' && admits.includes('user') && stepUp !== true,
    );
    assert.deepEqual(open.map(({ method, path }) => `${method} ${path}`).sort(), WITHOUT_STEP_UP);
  });
});
