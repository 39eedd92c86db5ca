import Type from 'typebox';
import type { RouteExample, RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { APPLICATION_EVENTS } from '../events.js';
import {
  ApplicationKeyBody,
  ApplicationKeysQuery,
  ApplicationRegenerate,
  ApplicationWithKeyBody,
  NewApplicationKeyBody,
} from '../schema.js';
import type { KeyCalls, NewKey } from './service.js';

const base = { limits: [], tag: 'Applications' } as const;
const audit = { entityId: { param: 'id' }, onDenied: APPLICATION_EVENTS.denied } as const;
const MADE: RouteExample = { after: 'POST /applications', params: { id: '$response.body#/id' } };

export function applicationKeyRoutes(keys: KeyCalls): RouteRecord[] {
  return [...collectionRoutes(keys), ...singleRoutes(keys)];
}

function collectionRoutes(keys: KeyCalls): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'POST',
      path: '/applications/:id/regenerate',
      permission: 'application:update',
      admits: ['application', 'user'],
      summary: 'Regenerate the key of an Application',
      description: 'A new key in place of all earlier ones, which stop at once or after `overlap_seconds`.',
      body: ApplicationRegenerate,
      example: { ...MADE, body: { overlap_seconds: 3_600 } },
      optionalBody: true,
      stepUp: true,
      status: 200,
      response: ApplicationWithKeyBody,
      secretFields: ['key'],
      audit,
      handle: ({ principal, auditContext, params, body }) =>
        keys.regenerate(principal.tenantId, auditContext, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/:id/keys',
      permission: 'application:read',
      admits: ['application', 'user'],
      summary: 'List the keys of an Application',
      description: 'Every key that works, newest first, never the key itself. The last use is told to the hour.',
      query: ApplicationKeysQuery,
      example: MADE,
      status: 200,
      response: Type.Array(ApplicationKeyBody),
      audit: { ...audit, onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, auditContext, params, query }) =>
        keys.list(principal.tenantId, params.id, query, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/applications/:id/keys',
      permission: 'application:update',
      admits: ['application', 'user'],
      summary: 'Add a key to an Application',
      description: 'A further key, for rotation without a gap. The answer is the only one that shows it.',
      body: Type.Object({}),
      optionalBody: true,
      example: { ...MADE, body: {} },
      stepUp: true,
      status: 201,
      response: NewApplicationKeyBody,
      location: locationOf,
      secretFields: ['key'],
      audit,
      handle: ({ principal, auditContext, params }) => keys.add(principal.tenantId, auditContext, params.id),
    }),
  ];
}

function singleRoutes(keys: KeyCalls): RouteRecord[] {
  return [
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/:id/keys/:key_id',
      permission: 'application:read',
      admits: ['application', 'user'],
      summary: 'Get a key of an Application',
      description: 'When it was made, when it ends and the hour of its last use, never the key itself.',
      example: {
        after: 'POST /applications/{id}/keys',
        params: { id: '$request.path.id', key_id: '$response.body#/id' },
      },
      status: 200,
      response: ApplicationKeyBody,
      audit: { ...audit, onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        keys.get(principal.tenantId, params.id, params.key_id, auditContext.atMs),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/applications/:id/keys/:key_id',
      permission: 'application:update',
      admits: ['application', 'user'],
      summary: 'Revoke a key of an Application',
      description: 'It answers 401 from then on. The last key may go too.',
      status: 204,
      audit,
      handle: ({ principal, auditContext, params }) =>
        keys.revoke(principal.tenantId, auditContext, params.id, params.key_id),
    }),
  ];
}

function locationOf(body: unknown): string {
  const { applicationId, id } = body as NewKey; // What the handler above returned.
  return `/applications/${applicationId}/keys/${id}`;
}
