import type { AnyRoute } from '../../http/routes/any-route.js';
import type { RouteExample, RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import type { DefinitionCalls } from '../definitions/calls.js';
import { HIDDEN_NOTE, withoutSecretsFor } from '../definitions/hidden.js';
import { DefinitionsQuery } from '../definitions/schema.js';
import type { ProxyShape } from './definition/content.js';
import { PROXY_EVENTS } from './events.js';
import { proxyFigureRoutes } from './figures/routes.js';
import { proxyPreviewRoutes } from './preview/routes.js';
import { proxyRoute } from './run/routes.js';
import { ProxyBody, ProxyDocument, ProxyList, ProxyPatchDocument } from './schema.js';
import type { Proxies } from './service.js';
import { proxyVersionRoutes } from './versions/routes.js';

const base = { limits: [], tag: 'Proxies', admits: ['application', 'user'] } as const;
const all = { entityId: '*', onDenied: PROXY_EVENTS.denied } as const;
const one = { entityId: { param: 'id' }, onDenied: PROXY_EVENTS.denied } as const;
const MADE: RouteExample = { after: 'POST /proxies', params: { id: '$response.body#/id' } };
const EXAMPLE = {
  name: 'Payments',
  destination_url: 'https://api.example.com/v1',
  request_transform: {
    code: "module.exports = async ({ args: { body, headers } }) => ({ body, headers: { ...headers, 'x-from': 'us' } });",
  },
  configuration: { MERCHANT: 'm-17' },
};
const RULES = {
  entries: 'At most 25 entries of `configuration` are not null; code and configuration have at most 1 MiB.',
  application: 'The Application is a public or private one of the Tenant.',
  transforms: 'A transform that says anything has `code`.',
  destination:
    '`destination_url` begins with https:// and names a host, no IP address; it has no user, query or fragment.',
};

export function proxyRoutes(proxies: Proxies): AnyRoute[] {
  return [
    proxyRoute(proxies.calls),
    ...collectionRoutes(proxies.definitions),
    ...readAndDeleteRoutes(proxies.definitions),
    ...changeRoutes(proxies.definitions),
    ...proxyVersionRoutes(proxies.versions),
    ...proxyFigureRoutes(proxies.figures),
    ...proxyPreviewRoutes(proxies.previews),
  ];
}

function collectionRoutes(proxies: DefinitionCalls<ProxyShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/proxies',
      permission: 'proxy:read',
      summary: 'List Proxies',
      description: `Newest first. Every parameter narrows the result. ${HIDDEN_NOTE}`,
      query: DefinitionsQuery,
      status: 200,
      response: ProxyList,
      audit: { ...all, onRead: PROXY_EVENTS.listed },
      handle: ({ principal, auditContext, query }) =>
        withoutSecretsFor(principal, proxies.list(principal.tenantId, auditContext, query)),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/proxies',
      stepUp: true,
      permission: 'proxy:create',
      summary: 'Create a Proxy',
      description: 'Its key names it in calls. Code is compiled when it is invoked.',
      anyBody: true,
      describes: { body: ProxyDocument, rules: RULES },
      example: { body: EXAMPLE },
      status: 201,
      response: ProxyBody,
      location: ({ id }) => `/proxies/${id}`,
      failures: ['validation_failed'],
      audit: all,
      handle: ({ principal, auditContext, body }) => proxies.create(principal.tenantId, auditContext, body),
    }),
  ];
}

function readAndDeleteRoutes(proxies: DefinitionCalls<ProxyShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/proxies/:id',
      permission: 'proxy:read',
      summary: 'Get a Proxy',
      description: `One Proxy with its key, code and configuration. An Application that is gone is not shown. ${HIDDEN_NOTE}`,
      example: MADE,
      status: 200,
      response: ProxyBody,
      audit: { ...one, onRead: PROXY_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        withoutSecretsFor(principal, proxies.get(principal.tenantId, params.id, auditContext.atMs)),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/proxies/:id',
      permission: 'proxy:delete',
      summary: 'Delete a Proxy',
      description: 'Its key names nothing any more. Its versions go with it.',
      status: 204,
      audit: one,
      handle: ({ principal, auditContext, params }) => proxies.delete(principal.tenantId, auditContext, params.id),
    }),
  ];
}

function changeRoutes(proxies: DefinitionCalls<ProxyShape>): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'PUT',
      path: '/proxies/:id',
      stepUp: true,
      permission: 'proxy:update',
      summary: 'Update a Proxy',
      description: 'Replaces everything but the key; what is left out is none. Keeps the version before.',
      anyBody: true,
      describes: { body: ProxyDocument, rules: RULES },
      example: { ...MADE, body: { ...EXAMPLE, name: 'Payments, renamed' } },
      status: 200,
      response: ProxyBody,
      failures: ['validation_failed'],
      audit: one,
      handle: ({ principal, auditContext, params, body }) =>
        proxies.replace(principal.tenantId, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'PATCH',
      path: '/proxies/:id',
      stepUp: true,
      permission: 'proxy:update',
      summary: 'Change a Proxy',
      description:
        'Configuration is merged (RFC 7386), other fields are replaced; null removes. Keeps the version before.',
      anyBody: true,
      describes: { body: ProxyPatchDocument, rules: RULES },
      example: { ...MADE, body: { configuration: { MERCHANT: 'm-18' } } },
      status: 204,
      failures: ['validation_failed'],
      audit: one,
      handle: ({ principal, auditContext, params, body }) =>
        proxies.patch(principal.tenantId, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/proxies/:id/regenerate',
      stepUp: true,
      permission: 'proxy:update',
      summary: 'Make a new key for a Proxy',
      description: 'The one before names nothing from now on. Nothing else changes.',
      example: MADE,
      status: 200,
      response: ProxyBody,
      audit: one,
      handle: ({ principal, auditContext, params }) => proxies.renew(principal.tenantId, auditContext, params.id),
    }),
  ];
}
