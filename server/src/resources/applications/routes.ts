import { RIGHTS_IN_WORDS } from '../../access/rights-in-words.js';
import type { RouteExample, RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { APPLICATION_EVENTS } from './events.js';
import { applicationKeyRoutes } from './keys/routes.js';
import {
  ApplicationCreate,
  ApplicationList,
  ApplicationsQuery,
  ApplicationUpdate,
  ApplicationWithKeyBody,
  ShownApplication,
} from './schema.js';
import type { Applications } from './service.js';

const base = { limits: [], tag: 'Applications' } as const;
const all = { entityId: '*', onDenied: APPLICATION_EVENTS.denied } as const;
const one = { entityId: { param: 'id' }, onDenied: APPLICATION_EVENTS.denied } as const;
const RIGHTS = {
  permissions: ['token:create', 'token:search'],
  rules: [{ description: 'Cards', priority: 1, container: '/pci/', transform: 'mask', permissions: ['token:read'] }],
  expires_at: '2099-12-31T00:00:00Z',
};
const UPDATE_RULES = { ...RIGHTS_IN_WORDS, same_type: '`type` is left out, or that of the Application.' };
const MADE: RouteExample = { after: 'POST /applications', params: { id: '$response.body#/id' } };

export function applicationRoutes(applications: Applications): RouteRecord[] {
  return [...collectionRoutes(applications), ...singleRoutes(applications), ...applicationKeyRoutes(applications.keys)];
}

function collectionRoutes(applications: Applications): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications',
      permission: 'application:read',
      admits: ['application', 'user'],
      summary: 'List Applications',
      description: 'Newest first. Every parameter narrows the result.',
      query: ApplicationsQuery,
      status: 200,
      response: ApplicationList,
      audit: { ...all, onRead: APPLICATION_EVENTS.listed },
      handle: ({ principal, auditContext, query }) => applications.list(principal.tenantId, query, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/applications',
      permission: 'application:create',
      admits: ['application', 'user'],
      summary: 'Create an Application',
      description: 'The answer is the only one that shows its key.',
      body: ApplicationCreate,
      describes: { rules: RIGHTS_IN_WORDS },
      example: { body: { name: 'Checkout', type: 'private', ...RIGHTS, create_key: true } },
      stepUp: true,
      status: 201,
      response: ApplicationWithKeyBody,
      location: locationOf,
      secretFields: ['key'],
      audit: all,
      handle: ({ principal, auditContext, body }) => applications.create(principal.tenantId, auditContext, body),
    }),
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/key',
      permission: 'any application key',
      admits: ['application'],
      summary: 'Get the Application of the key',
      description: 'The Application the key of this request belongs to, whatever its permissions.',
      status: 200,
      response: ShownApplication,
      failures: ['wrong_application_type'],
      audit: { ...all, entityId: 'application', onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, auditContext }) =>
        applications.get(principal.tenantId, principal.applicationId, auditContext.atMs),
    }),
  ];
}

function singleRoutes(applications: Applications): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/:id',
      permission: 'application:read',
      admits: ['application', 'user'],
      summary: 'Get an Application',
      description: 'One Application with the names of its keys, never a key itself.',
      example: MADE,
      status: 200,
      response: ShownApplication,
      audit: { ...one, onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        applications.get(principal.tenantId, params.id, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      method: 'PUT',
      path: '/applications/:id',
      stepUp: true,
      permission: 'application:update',
      admits: ['application', 'user'],
      summary: 'Update an Application',
      description:
        'Replaces name, permissions, rules and end; what is left out is none. Holds from the next request on.',
      body: ApplicationUpdate,
      describes: { rules: UPDATE_RULES },
      example: { ...MADE, body: { name: 'Checkout, renamed', ...RIGHTS } },
      status: 200,
      response: ShownApplication,
      audit: one,
      handle: ({ principal, auditContext, params, body }) =>
        applications.update(principal.tenantId, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/applications/:id',
      permission: 'application:delete',
      admits: ['application', 'user'],
      summary: 'Delete an Application',
      description: 'Ends its keys and the sessions it created or authorized, at once.',
      status: 204,
      audit: one,
      handle: ({ principal, auditContext, params }) => applications.delete(principal.tenantId, auditContext, params.id),
    }),
  ];
}

function locationOf(body: unknown): string {
  return `/applications/${(body as ApplicationWithKeyBody).id}`; // What the handler above returned.
}
