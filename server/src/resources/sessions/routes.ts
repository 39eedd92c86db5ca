import Type from 'typebox';
import type { RouteRecord } from '../../http/route.js';
import { defineRoute } from '../../http/route.js';
import { SessionAuthorize, SessionBody } from './schema.js';
import type { Sessions } from './service.js';

export function sessionRoutes(sessions: Sessions): RouteRecord[] {
  const base = {
    method: 'POST',
    limits: [],
    tag: 'Sessions',
    audit: { entityId: '*', onDenied: 'session_denied' },
  } as const;
  return [
    defineRoute({
      ...base,
      path: '/sessions',
      permission: 'public application key',
      summary: 'Create a session',
      description: 'Lives three minutes and has no rights until a private Application authorizes its nonce.',
      body: Type.Object({}),
      optionalBody: true,
      status: 201,
      response: SessionBody,
      secretFields: ['session_key', 'nonce'],
      failures: ['wrong_application_type'],
      handle: ({ principal, act }) => sessions.create(principal, act),
    }),
    defineRoute({
      ...base,
      path: '/sessions/authorize',
      permission: 'private application key',
      summary: 'Authorize a session',
      description: 'Grants token permissions to the session of the nonce, never more than the caller itself holds.',
      body: SessionAuthorize,
      status: 200,
      failures: ['wrong_application_type', 'not_found', 'session_already_authorized'],
      handle: ({ principal, act, body }) => sessions.authorize(principal, act, body),
    }),
  ];
}
