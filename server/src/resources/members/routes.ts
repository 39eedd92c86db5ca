import Type from 'typebox';
import { MEMBER_ROLES } from '../../access/roles.js';
import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute, Rendered } from '../../http/routes/route.js';
import { MEMBER_EVENTS } from './events.js';
import { MemberBody, MemberList, MembersQuery, MemberUpdate, RoleBody } from './schema.js';
import type { Members } from './service.js';

const base = { limits: [], tag: 'Members' } as const;
const one = { entityId: { param: 'id' }, onDenied: MEMBER_EVENTS.denied } as const;

export function memberRoutes(members: Members): RouteRecord[] {
  return [listRoute(members), ...singleRoutes(members), rolesRoute()];
}

function listRoute(members: Members): RouteRecord {
  return defineRoute({
    ...base,
    method: 'GET',
    path: '/tenants/self/members',
    permission: 'tenant:member:read',
    admits: ['application', 'user'],
    summary: 'List members',
    description: 'The users of the Tenant with their roles, newest first.',
    query: MembersQuery,
    status: 200,
    response: MemberList,
    audit: { entityId: '*', onRead: MEMBER_EVENTS.listed, onDenied: MEMBER_EVENTS.denied },
    handle: ({ principal, query }) => members.list(principal.tenantId, query),
  });
}

function singleRoutes(members: Members): RouteRecord[] {
  const path = '/tenants/self/members/:id';
  return [
    defineRoute({
      ...base,
      method: 'PUT',
      path,
      permission: 'tenant:member:update',
      admits: ['application', 'user'],
      summary: 'Change the role of a member',
      description: 'A caller can give only a role whose permissions it holds itself. The owner keeps its role.',
      body: MemberUpdate,
      example: {
        ...{ after: 'GET /tenants/self/members', params: { id: '$response.body#/data/0/id' } },
        body: { role: 'READ_ONLY' },
      },
      stepUp: true,
      status: 200,
      response: MemberBody,
      failures: ['role_not_grantable', 'owner_protected'],
      audit: one,
      handle: ({ principal, auditContext, params, body }) => members.update(principal, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path,
      permission: 'tenant:member:delete',
      admits: ['application', 'user'],
      summary: 'Remove a member',
      description: 'The user has no access to the Tenant from then on. The owner stays.',
      status: 204,
      failures: ['owner_protected'],
      audit: one,
      handle: ({ principal, auditContext, params }) => members.remove(principal.tenantId, auditContext, params.id),
    }),
  ];
}

function rolesRoute(): RouteRecord {
  const roles = new Rendered(MEMBER_ROLES.map((name) => ({ name })));
  return defineRoute({
    ...base,
    method: 'GET',
    path: '/roles',
    permission: 'any key',
    admits: ['application', 'session', 'user'],
    summary: 'List roles',
    description: 'What a member can be, the highest role first.',
    status: 200,
    response: Type.Array(RoleBody),
    handle: () => roles,
  });
}
