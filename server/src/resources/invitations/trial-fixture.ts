import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { SliceTrial, Success, Targets } from '../../testing/slice-trial.js';
import type { TestApp, TestTenant } from '../../testing/test-app.js';

const ALL = '/tenants/self/invitations';
const ONE = `${ALL}/:id`;
const params = ({ invitationId = '' }: Targets) => ({ id: invitationId });
const INVITED = { email: 'ada@example.com', role: 'READ_ONLY' };

async function invited(
  app: TestApp,
  { key }: Pick<TestTenant, 'key'>,
  body: object = INVITED,
): Promise<{ readonly id: string; readonly link: string }> {
  const { status, json, text } = await app.call('POST', ALL, { key, body });
  assert.equal(status, 201, text);
  return json;
}

export const trial: SliceTrial = {
  routes: [
    { method: 'GET', path: ALL, needs: 'tenant:invitation:read', status: 200 },
    {
      ...{ method: 'POST', path: ALL, needs: 'tenant:invitation:create', status: 201, toFew: 403, leavesTarget: true },
      body: () => INVITED,
    },
    { method: 'GET', path: ONE, needs: 'tenant:invitation:read', status: 200, params },
    {
      ...{ method: 'POST', path: `${ONE}/resend`, status: 200, params, leavesTarget: true },
      needs: 'tenant:invitation:create and tenant:invitation:update',
    },
    { method: 'DELETE', path: ONE, needs: 'tenant:invitation:delete', status: 204, params },
  ],
  successes: {
    [`POST ${ALL}`]: (): Success => ({ path: ALL, body: INVITED }),
    [`POST ${ONE}/resend`]: async (app, tenant) => ({ path: `${ALL}/${(await invited(app, tenant)).id}/resend` }),
  },
  makeTargets: async (app, tenant) => ({ invitationId: (await invited(app, tenant)).id }),
  async populate(app, tenant, label) {
    if (!tenant)
      return { invitationId: randomUUID(), invitationSecret: 'A'.repeat(43), invitedEmail: 'x@none.example' };
    const invitedEmail = `${randomUUID()}@${label}.example`;
    const { id, link } = await invited(app, tenant, { email: invitedEmail, role: 'ADMIN' });
    return { invitationId: id, invitationSecret: link.slice(link.indexOf('#') + 1), invitedEmail };
  },
  fill: [
    `INSERT INTO invitations (tenant_id, id, email, email_key, role, secret_hash, mac, expires_at, created_at)
     SELECT $1, gen_random_uuid(), 'i@example.com', 'i@example.com', 'ADMIN', int4send(n), '\\x00', '2030-02-01', '2030-01-31'
     FROM generate_series(1, $2::int / 100) n`,
  ],
  reads: (of) =>
    [`${ALL}?size=100`, `${ALL}?status=PENDING`, `${ALL}/${of.invitationId}`].map(
      (path) => ({ as: 'management', method: 'GET', path }) as const,
    ),
  changes: ({ invitationId, memberEmail, invitedEmail }) => [
    // Whose member it is elsewhere does not matter here.
    { as: 'management', method: 'POST', path: ALL, body: { email: memberEmail } },
    { as: 'management', method: 'POST', path: ALL, body: { email: invitedEmail } },
    { as: 'management', method: 'POST', path: `${ALL}/${invitationId}/resend` },
    { as: 'management', method: 'DELETE', path: `${ALL}/${invitationId}` },
  ],
  widened: ['list_invitations', 'count_invitations', 'find_invitation', 'lock_invitation'],
};
