import type { RouteRecord } from '../../http/routes/route.js';
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

export function applicationRoutes(applications: Applications): RouteRecord[] {
  const base = { limits: [], tag: 'Applications' } as const;
  const all = { entityId: '*', onDenied: APPLICATION_EVENTS.denied } as const;
  const one = { entityId: { param: 'id' }, onDenied: APPLICATION_EVENTS.denied } as const;
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications',
      permission: 'application:read',
      summary: 'List Applications',
      description: 'Newest first. Every parameter narrows the result.',
      query: ApplicationsQuery,
      status: 200,
      response: ApplicationList,
      audit: { ...all, onRead: APPLICATION_EVENTS.listed },
      handle: ({ principal, act, query }) => applications.list(principal.tenantId, query, act.atMs),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/applications',
      permission: 'application:create',
      summary: 'Create an Application',
      description: 'The answer is the only one that shows its key.',
      body: ApplicationCreate,
      status: 201,
      response: ApplicationWithKeyBody,
      location: locationOf,
      secretFields: ['key'],
      audit: all,
      handle: ({ principal, act, body }) => applications.create(principal.tenantId, act, body),
    }),
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/key',
      permission: 'any application key',
      summary: 'Get the Application of the key',
      description: 'The Application the key of this request belongs to, whatever its permissions.',
      status: 200,
      response: ShownApplication,
      failures: ['wrong_application_type'],
      audit: { ...all, entityId: 'application', onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, act }) => applications.get(principal.tenantId, principal.applicationId, act.atMs),
    }),
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/:id',
      permission: 'application:read',
      summary: 'Get an Application',
      description: 'One Application with the names of its keys, never a key itself.',
      status: 200,
      response: ShownApplication,
      audit: { ...one, onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, act, params }) => applications.get(principal.tenantId, params.id, act.atMs),
    }),
    defineRoute({
      ...base,
      method: 'PUT',
      path: '/applications/:id',
      permission: 'application:update',
      summary: 'Update an Application',
      description:
        'Replaces name, permissions, rules and end; what is left out is none. Holds from the next request on.',
      body: ApplicationUpdate,
      status: 200,
      response: ShownApplication,
      audit: one,
      handle: ({ principal, act, params, body }) => applications.update(principal.tenantId, act, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/applications/:id',
      permission: 'application:delete',
      summary: 'Delete an Application',
      description: 'Ends its keys and the sessions it created or authorized, at once.',
      status: 204,
      audit: one,
      handle: ({ principal, act, params }) => applications.delete(principal.tenantId, act, params.id),
    }),
    ...applicationKeyRoutes(applications.keys),
  ];
}

function locationOf(body: unknown): string {
  return `/applications/${(body as ApplicationWithKeyBody).id}`; // What the handler above returned.
}
