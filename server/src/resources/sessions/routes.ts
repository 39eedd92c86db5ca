import Type from 'typebox';
import { RIGHTS_IN_WORDS } from '../../access/rights-in-words.js';
import type { RouteExample, RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { SESSION_EVENTS } from './events.js';
import { SessionAuthorize, SessionBody } from './schema.js';
import type { Sessions } from './service.js';

const NONCE = '$response.body#/nonce';

const AUTHORIZE_RULES = {
  ...RIGHTS_IN_WORDS,
  dates: '`expires_at` is a complete date of the calendar, in the future and at most 24 hours ahead.',
};
const AUTHORIZE_EXAMPLE: RouteExample = {
  after: 'POST /sessions',
  body: {
    nonce: `{${NONCE}}`,
    rules: [
      {
        description: 'One token',
        priority: 1,
        conditions: [{ attribute: 'id', operator: 'equals', value: '8ac6c1d5-7f0b-4d3d-8c2a-3a0f8f6f2d10' }],
        transform: 'mask',
        permissions: ['token:read'],
      },
    ],
  },
  samples: { [NONCE]: '0123456789ABCDEFabcdef' },
};

export function sessionRoutes(sessions: Sessions): RouteRecord[] {
  const base = {
    limits: [],
    tag: 'Sessions',
  } as const;
  const post = { ...base, method: 'POST', audit: { entityId: '*', onDenied: SESSION_EVENTS.denied } } as const;
  return [
    defineRoute({
      ...post,
      path: '/sessions',
      permission: 'public application key',
      admits: ['application'],
      summary: 'Create a session',
      description: 'Lives three minutes and has no rights until a private Application authorizes its nonce.',
      body: Type.Object({}),
      optionalBody: true,
      example: { body: {} },
      status: 201,
      response: SessionBody,
      secretFields: ['session_key', 'nonce'],
      failures: ['wrong_application_type'],
      handle: ({ principal, auditContext }) => sessions.create(principal, auditContext),
    }),
    defineRoute({
      ...post,
      path: '/sessions/authorize',
      permission: 'private application key',
      admits: ['application'],
      summary: 'Authorize a session',
      description: 'Grants token permissions to the session of the nonce, never more than the caller itself holds.',
      body: SessionAuthorize,
      describes: { rules: AUTHORIZE_RULES },
      example: AUTHORIZE_EXAMPLE,
      status: 200,
      failures: ['wrong_application_type', 'not_found', 'session_already_authorized'],
      handle: ({ principal, auditContext, body }) => sessions.authorize(principal, auditContext, body),
    }),
    defineRoute({
      ...base,
      method: 'DELETE',
      path: '/sessions/:id',
      permission: 'any application key',
      admits: ['application'],
      summary: 'End a session',
      description: 'For the Application that created or authorized it. Its key answers 401 from then on.',
      status: 204,
      failures: ['wrong_application_type'],
      audit: { entityId: { param: 'id' }, onDenied: SESSION_EVENTS.denied },
      handle: ({ principal, auditContext, params }) => sessions.end(principal, auditContext, params.id ?? ''),
    }),
  ];
}
