import type { RouteExample, RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import type { DefinitionCalls } from '../definitions/calls.js';
import { HIDDEN_NOTE, withoutSecretsFor } from '../definitions/hidden.js';
import { DefinitionsQuery } from '../definitions/schema.js';
import type { ReactorShape } from './definition/content.js';
import { REACTOR_EVENTS } from './events.js';
import { reactorFigureRoutes } from './figures/routes.js';
import { reactorRequestRoutes } from './queue/routes.js';
import { reactRoutes } from './run/routes.js';
import { ReactorBody, ReactorDocument, ReactorList, ReactorPatchDocument, ReactorWithSecretBody } from './schema.js';
import type { Reactors } from './service.js';
import { reactorVersionRoutes } from './versions/routes.js';

const base = { limits: [], tag: 'Reactors', admits: ['application', 'user'] } as const;
const all = { entityId: '*', onDenied: REACTOR_EVENTS.denied } as const;
const one = { entityId: { param: 'id' }, onDenied: REACTOR_EVENTS.denied } as const;
const MADE: RouteExample = { after: 'POST /reactors', params: { id: '$response.body#/id' } };
const EXAMPLE = {
  name: 'Say hello',
  code: 'module.exports = async (req) => ({ raw: { hello: req.args.name } });',
  configuration: { GREETING: 'hello' },
};
const ENTRIES = {
  entries: 'At most 25 entries of `configuration` are not null; code and configuration have at most 1 MiB.',
};
const RULES = { ...ENTRIES, application: '`application` names a public or private Application of the Tenant.' };

export function reactorRoutes(reactors: Reactors): RouteRecord[] {
  return [
    ...collectionRoutes(reactors.definitions),
    ...readAndDeleteRoutes(reactors.definitions),
    ...changeRoutes(reactors.definitions),
    ...reactorVersionRoutes(reactors.versions),
    ...reactRoutes(reactors.runs),
    ...reactorFigureRoutes(reactors.figures),
    ...reactorRequestRoutes(reactors.requests),
  ];
}

function collectionRoutes(reactors: DefinitionCalls<ReactorShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/reactors',
      permission: 'reactor:read',
      summary: 'List Reactors',
      description: `Newest first. Every parameter narrows the result. ${HIDDEN_NOTE}`,
      query: DefinitionsQuery,
      status: 200,
      response: ReactorList,
      audit: { ...all, onRead: REACTOR_EVENTS.listed },
      handle: ({ principal, auditContext, query }) =>
        withoutSecretsFor(principal, reactors.list(principal.tenantId, auditContext, query)),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/reactors',
      stepUp: true,
      permission: 'reactor:create',
      summary: 'Create a Reactor',
      description:
        'The code is compiled when it is invoked. The answer is the only one that shows the callback secret.',
      anyBody: true,
      describes: { body: ReactorDocument, rules: RULES },
      example: { body: EXAMPLE },
      status: 201,
      response: ReactorWithSecretBody,
      location: ({ id }) => `/reactors/${id}`,
      secretFields: ['callback_secret'],
      failures: ['validation_failed'],
      audit: all,
      handle: ({ principal, auditContext, body }) => reactors.create(principal.tenantId, auditContext, body),
    }),
  ];
}

function readAndDeleteRoutes(reactors: DefinitionCalls<ReactorShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/reactors/:id',
      permission: 'reactor:read',
      summary: 'Get a Reactor',
      description: `One Reactor with its code and configuration. An Application that is gone is not shown. ${HIDDEN_NOTE}`,
      example: MADE,
      status: 200,
      response: ReactorBody,
      audit: { ...one, onRead: REACTOR_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        withoutSecretsFor(principal, reactors.get(principal.tenantId, params.id, auditContext.atMs)),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/reactors/:id',
      permission: 'reactor:delete',
      summary: 'Delete a Reactor',
      description: 'Its versions go with it, and calls of it that wait to be run.',
      status: 204,
      audit: one,
      handle: ({ principal, auditContext, params }) => reactors.delete(principal.tenantId, auditContext, params.id),
    }),
  ];
}

function changeRoutes(reactors: DefinitionCalls<ReactorShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'PUT',
      path: '/reactors/:id',
      stepUp: true,
      permission: 'reactor:update',
      summary: 'Update a Reactor',
      description:
        'Replaces name, code, configuration and Application; what is left out is none. Keeps the version before.',
      anyBody: true,
      describes: { body: ReactorDocument, rules: RULES },
      example: { ...MADE, body: { ...EXAMPLE, name: 'Say hello, renamed' } },
      status: 200,
      response: ReactorBody,
      failures: ['validation_failed'],
      audit: one,
      handle: ({ principal, auditContext, params, body }) =>
        reactors.replace(principal.tenantId, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'PATCH',
      path: '/reactors/:id',
      stepUp: true,
      permission: 'reactor:update',
      summary: 'Change a Reactor',
      description:
        'Configuration is merged (RFC 7386), other fields are replaced; null removes. Keeps the version before.',
      anyBody: true,
      describes: { body: ReactorPatchDocument, rules: RULES },
      example: { ...MADE, body: { configuration: { GREETING: 'good day' } } },
      status: 204,
      failures: ['validation_failed'],
      audit: one,
      handle: ({ principal, auditContext, params, body }) =>
        reactors.patch(principal.tenantId, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/reactors/:id/callback-secret',
      stepUp: true,
      permission: 'reactor:update',
      summary: 'Make a new callback secret',
      description: 'Replaces the one before at once. Only this answer shows it.',
      example: MADE,
      status: 200,
      response: ReactorWithSecretBody,
      secretFields: ['callback_secret'],
      audit: one,
      handle: ({ principal, auditContext, params }) => reactors.renew(principal.tenantId, auditContext, params.id),
    }),
  ];
}
