import Type from 'typebox';
import type { RouteRecord } from '../../../http/routes/route.js';
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

export function applicationKeyRoutes(keys: KeyCalls): RouteRecord[] {
  const base = { limits: [], tag: 'Applications' } as const;
  const audit = { entityId: { param: 'id' }, onDenied: APPLICATION_EVENTS.denied } as const;
  return [
    defineRoute({
      ...base,
      method: 'POST',
      path: '/applications/:id/regenerate',
      permission: 'application:update',
      summary: 'Regenerate the key of an Application',
      description: 'A new key in place of all earlier ones, which stop at once or after `overlap_seconds`.',
      body: ApplicationRegenerate,
      optionalBody: true,
      status: 200,
      response: ApplicationWithKeyBody,
      secretFields: ['key'],
      audit,
      handle: ({ principal, act, params, body }) => keys.regenerate(principal.tenantId, act, params.id, body),
    }),
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/:id/keys',
      permission: 'application:read',
      summary: 'List the keys of an Application',
      description: 'Every key that works, newest first, never the key itself. The last use is told to the hour.',
      query: ApplicationKeysQuery,
      status: 200,
      response: Type.Array(ApplicationKeyBody),
      audit: { ...audit, onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, act, params, query }) => keys.list(principal.tenantId, params.id, query, act.atMs),
    }),
    defineRoute({
      ...base,
      method: 'POST',
      path: '/applications/:id/keys',
      permission: 'application:update',
      summary: 'Add a key to an Application',
      description: 'A further key, for rotation without a gap. The answer is the only one that shows it.',
      body: Type.Object({}),
      optionalBody: true,
      status: 201,
      response: NewApplicationKeyBody,
      location: locationOf,
      secretFields: ['key'],
      audit,
      handle: ({ principal, act, params }) => keys.add(principal.tenantId, act, params.id),
    }),
    defineRoute({
      ...base,
      method: 'GET',
      path: '/applications/:id/keys/:key_id',
      permission: 'application:read',
      summary: 'Get a key of an Application',
      description: 'When it was made, when it ends and the hour of its last use, never the key itself.',
      status: 200,
      response: ApplicationKeyBody,
      audit: { ...audit, onRead: APPLICATION_EVENTS.retrieved },
      handle: ({ principal, act, params }) => keys.get(principal.tenantId, params.id, params.key_id, act.atMs),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/applications/:id/keys/:key_id',
      permission: 'application:update',
      summary: 'Revoke a key of an Application',
      description: 'It answers 401 from then on. The last key may go too.',
      status: 204,
      audit,
      handle: ({ principal, act, params }) => keys.revoke(principal.tenantId, act, params.id, params.key_id),
    }),
  ];
}

function locationOf(body: unknown): string {
  const { applicationId, id } = body as NewKey; // What the handler above returned.
  return `/applications/${applicationId}/keys/${id}`;
}
