import type { SliceTrial } from '../../testing/slice-trial.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';

const publicKey = (app: TestApp, tenant: TestTenant) => app.makeKey(tenant.id, 'public', ['token:create']);

export const trial: SliceTrial = {
  routes: [
    { method: 'POST', path: '/sessions', needs: 'public application key', status: 201, leavesTarget: true },
    {
      ...{ method: 'POST', path: '/sessions/authorize', needs: 'private application key', status: 200 },
      body: ({ nonce }) => ({ nonce, permissions: ['token:read'] }),
    },
    {
      ...{ method: 'DELETE', path: '/sessions/:id', needs: 'any application key', status: 204, toOthers: 404 },
      params: ({ sessionId }) => ({ id: sessionId }),
    },
  ],
  successes: {
    'POST /sessions': async (app, tenant) => ({ path: '/sessions', key: await publicKey(app, tenant) }),
    'POST /sessions/authorize': async (app, tenant) => {
      const { json } = await app.call('POST', '/sessions', { key: await publicKey(app, tenant) });
      const body = { nonce: json.nonce, permissions: ['token:create'] };
      return { path: '/sessions/authorize', body, key: await app.makeKey(tenant.id, 'private', ['token:create']) };
    },
  },
  fill: [
    `INSERT INTO sessions (tenant_id, id, hash, nonce_hash, created_by, authorized_by, mac, expires_at, created_at)
     SELECT $1, gen_random_uuid(), int4send(n), int4send(n), a.id, CASE WHEN n % 2 = 0 THEN a.id END, '\\x00',
            '2030-02-01', '2030-01-31'
     FROM generate_series(1, $2::int / 100) n, (SELECT id FROM applications WHERE tenant_id = $1 LIMIT 1) a`,
  ],
  changes: (of) => [
    {
      ...{ as: 'private', method: 'POST', path: '/sessions/authorize' },
      body: { nonce: of.nonce, permissions: ['token:read'] },
    },
    { as: 'public', method: 'POST', path: '/sessions' },
    ...(['management', 'private', 'public'] as const).map(
      (as) => ({ as, method: 'DELETE', path: `/sessions/${of.sessionId}` }) as const,
    ),
  ],
  widened: ['find_session_by_nonce'],
  // Only an Application of the session itself can end it, so what tenant it is of does not even come up.
  tellsNothing: ['POST /sessions', 'DELETE /sessions/:id'],
};
