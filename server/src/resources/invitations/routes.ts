import Type from 'typebox';
import type { RouteExample, RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { INVITATION_EVENTS } from './events.js';
import {
  InvitationBody,
  InvitationCreate,
  InvitationList,
  InvitationsQuery,
  InvitationWithLinkBody,
} from './schema.js';
import type { Invitations } from './service.js';

const base = { limits: [], tag: 'Invitations', admits: ['application', 'user'] } as const;
const all = { entityId: '*', onDenied: INVITATION_EVENTS.denied } as const;
const one = { entityId: { param: 'id' }, onDenied: INVITATION_EVENTS.denied } as const;
const MADE: RouteExample = { after: 'POST /tenants/self/invitations', params: { id: '$response.body#/id' } };
const LINK = 'Where the operator has set up no mail, the answer carries the `link`, once.';

export function invitationRoutes(invitations: Invitations): RouteRecord[] {
  return [...collectionRoutes(invitations), ...singleRoutes(invitations)];
}

function collectionRoutes(invitations: Invitations): RouteRecord[] {
  const path = '/tenants/self/invitations';
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path,
      permission: 'tenant:invitation:read',
      summary: 'List invitations',
      description: 'Newest first; those that were accepted are gone.',
      query: InvitationsQuery,
      status: 200,
      response: InvitationList,
      audit: { ...all, onRead: INVITATION_EVENTS.listed },
      handle: ({ principal, auditContext, query }) => invitations.list(principal.tenantId, query, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path,
      permission: 'tenant:invitation:create',
      summary: 'Invite somebody',
      description: `Good for 72 hours. A caller can give only a role whose permissions it holds itself. ${LINK}`,
      body: InvitationCreate,
      example: { body: { email: 'ada@example.com', role: 'READ_ONLY' } },
      stepUp: true,
      status: 201,
      response: InvitationWithLinkBody,
      location: ({ id }) => `/tenants/self/invitations/${id}`,
      secretFields: ['link'],
      failures: ['role_not_grantable', 'already_member'],
      audit: all,
      handle: ({ principal, auditContext, body }) => invitations.create(principal, auditContext, body),
    }),
  ];
}

function singleRoutes(invitations: Invitations): RouteRecord[] {
  const path = '/tenants/self/invitations/:id';
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path,
      permission: 'tenant:invitation:read',
      summary: 'Get an invitation',
      description: 'One that was not accepted.',
      example: MADE,
      status: 200,
      response: InvitationBody,
      audit: { ...one, onRead: INVITATION_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        invitations.get(principal.tenantId, params.id, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: `${path}/resend`,
      permission: 'tenant:invitation:create and tenant:invitation:update',
      summary: 'Send an invitation again',
      description: `New 72 hours and a new link; earlier links die. ${LINK}`,
      body: Type.Object({}),
      optionalBody: true,
      example: { ...MADE, body: {} },
      stepUp: true,
      status: 200,
      response: InvitationWithLinkBody,
      secretFields: ['link'],
      failures: ['role_not_grantable'],
      audit: one,
      handle: ({ principal, auditContext, params }) => invitations.resend(principal, auditContext, params.id),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path,
      permission: 'tenant:invitation:delete',
      summary: 'Delete an invitation',
      description: 'Its links lead nowhere from then on.',
      status: 204,
      audit: one,
      handle: ({ principal, auditContext, params }) => invitations.remove(principal.tenantId, auditContext, params.id),
    }),
  ];
}
