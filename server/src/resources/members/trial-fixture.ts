import { randomUUID } from 'node:crypto';
import type { SliceTrial, Targets } from '../../testing/slice-trial.js';
import { makeMember } from './member-fixture.js';

const params = ({ memberId = '' }: Targets) => ({ id: memberId });
const body = { role: 'READ_ONLY' };

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: '/tenants/self/members', needs: 'tenant:member:read', status: 200 },
    {
      ...{ method: 'PUT', path: '/tenants/self/members/:id', needs: 'tenant:member:update', status: 200, toFew: 403 },
      ...{ params, body: () => body },
    },
    { method: 'DELETE', path: '/tenants/self/members/:id', needs: 'tenant:member:delete', status: 204, params },
    { method: 'GET', path: '/roles', needs: 'any key', status: 200 },
  ],
  successes: {
    'PUT /tenants/self/members/:id': async (app, tenant) => ({
      path: `/tenants/self/members/${(await makeMember(app, tenant.id, 'ADMIN')).memberId}`,
      body,
    }),
  },
  makeTargets: async (app, tenant) => ({ memberId: (await makeMember(app, tenant.id, 'ADMIN')).memberId }),
  async populate(app, tenant, label) {
    if (!tenant) return { memberId: randomUUID(), userId: randomUUID(), memberEmail: 'nobody@none.example' };
    const { memberId, userId, email } = await makeMember(app, tenant.id, 'ADMIN', `${randomUUID()}@${label}.example`);
    await app.db.owner.query(`INSERT INTO portal_visits VALUES ($1, gen_random_uuid(), now() + interval '7 days')`, [
      tenant.id,
    ]);
    return { memberId, userId, memberEmail: email };
  },
  fill: [
    `WITH made AS (INSERT INTO users (id, created_at) SELECT gen_random_uuid(), '2030-01-31'
                   FROM generate_series(1, $2::int / 100) n RETURNING id)
     INSERT INTO members (tenant_id, id, user_id, role, mac, created_at)
     SELECT $1, gen_random_uuid(), id, 'ADMIN', '\\x00', '2030-01-31' FROM made`,
    `INSERT INTO portal_visits (tenant_id, session_id, expires_at)
     SELECT $1, gen_random_uuid(), '2030-01-31' FROM generate_series(1, $2::int / 100) n`,
  ],
  reads: (of) =>
    ['/tenants/self/members?size=100', `/tenants/self/members?user_id=${of.userId}`, '/roles'].map(
      (path) => ({ as: 'management', method: 'GET', path }) as const,
    ),
  changes: ({ memberId, userId }) => [
    { as: 'management', method: 'PUT', path: `/tenants/self/members/${memberId}`, body },
    { as: 'management', method: 'PUT', path: `/tenants/self/members/${userId}`, body },
    { as: 'management', method: 'DELETE', path: `/tenants/self/members/${memberId}` },
  ],
  tellsNothing: ['GET /roles'],
  widened: ['list_members', 'count_members', 'find_member', 'lock_member'],
};
