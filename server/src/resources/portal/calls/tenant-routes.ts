import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { MembersQuery } from '../../members/index.js';
import { TenantBody } from '../../tenants/index.js';
import { NewOwnerBody, NewSignInRules, NewTenantBody, PortalMemberList, SignInRulesBody } from '../schema.js';
import type { Portal } from '../service.js';
import { gainedAnswer } from './gained-rights.js';
import { OWN_TENANT_FAILURES } from './own-tenant.js';
import { actedBy, portalCall, portalPost, signedInOf, signedInVisit } from './portal-call.js';

export function ownTenantRoutes(portal: Portal): RouteRecord[] {
  return [
    ...signInRulesRoutes(portal),
    defineRoute({
      ...portalCall,
      method: 'GET',
      path: '/portal/api/tenants/:tenant_id/members',
      portal: 'signed in',
      summary: 'The members of a Tenant',
      description: 'With when each was last there, and whether it has a second factor.',
      query: MembersQuery,
      status: 200,
      response: PortalMemberList,
      failures: OWN_TENANT_FAILURES,
      handle: (request) =>
        portal.members(signedInOf(request), request.params.tenant_id, request.query, actedBy(request)),
    }),
    defineRoute({
      ...portalPost('/tenants', NewTenantBody),
      portal: 'signed in',
      summary: 'Create a Tenant',
      description: 'The user owns it. The session gets a new cookie.',
      status: 201,
      response: TenantBody,
      handle: async (request) =>
        gainedAnswer(await portal.createTenant(signedInVisit(request), request.body.name, actedBy(request))),
    }),
    defineRoute({
      ...portalPost('/tenants/:tenant_id/owner', NewOwnerBody),
      portal: 'stepped up',
      summary: 'Give a Tenant away',
      description: 'To another member, by its owner, who is an ADMIN from then on.',
      status: 204,
      failures: OWN_TENANT_FAILURES,
      handle: (request) => {
        const { member_id: memberId } = request.body;
        return portal.giveAway(signedInOf(request), request.params.tenant_id, memberId, actedBy(request));
      },
    }),
    defineRoute({
      ...portalCall,
      method: 'DELETE',
      path: '/portal/api/memberships/:tenant_id',
      portal: 'signed in',
      summary: 'Leave a Tenant',
      description: 'The owner cannot leave.',
      status: 204,
      failures: ['owner_protected'],
      handle: (request) => portal.leave(signedInOf(request), request.params.tenant_id, actedBy(request)),
    }),
  ];
}

function signInRulesRoutes({ signInRules }: Portal): RouteRecord[] {
  const path = '/portal/api/tenants/:tenant_id/sign-in-rules';
  return [
    defineRoute({
      ...portalCall,
      method: 'GET',
      path,
      portal: 'signed in',
      summary: 'How members have to sign in',
      description: 'With the members who could not, if they have to do so.',
      status: 200,
      response: SignInRulesBody,
      failures: OWN_TENANT_FAILURES,
      handle: (request) => signInRules.get(signedInOf(request), request.params.tenant_id, actedBy(request)),
    }),
    defineRoute({
      ...portalCall,
      method: 'PUT',
      path,
      portal: 'stepped up',
      summary: 'Say how members have to sign in',
      description:
        'Nobody is removed: a member who does not follow the rules is told so, and has no access until it does.',
      body: NewSignInRules,
      status: 200,
      response: SignInRulesBody,
      failures: OWN_TENANT_FAILURES,
      handle: (request) =>
        signInRules.set(signedInOf(request), request.params.tenant_id, request.body, actedBy(request)),
    }),
  ];
}
