import type { RouteExample, RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { REACTOR_EVENTS } from '../events.js';
import { CODE_FAILURES, PAYLOAD } from '../run/routes.js';
import { ReactBody } from '../schema.js';
import {
  ReactAsyncBody,
  ReactAsyncDocument,
  ReactorRequestBody,
  ReactorRequestList,
  ReactorRequestsQuery,
} from './schema.js';
import type { RequestCalls } from './service.js';

const base = { limits: [], tag: 'Reactors' } as const;
const one = { entityId: { param: 'id' }, onDenied: REACTOR_EVENTS.denied } as const;
const MADE: RouteExample = { after: 'POST /reactors', params: { id: '$response.body#/id' } };
const ASKED: RouteExample = {
  after: 'POST /reactors/{id}/react-async',
  params: { id: '$request.path.id', request_id: '$response.body#/asyncReactorRequestId' },
};
/** Behind its result: one that were cancelled would have none. */
const OVER: RouteExample = {
  after: 'GET /reactors/{id}/results/{request_id}',
  params: { id: '$request.path.id', request_id: '$request.path.request_id' },
};
const FAILURES = [
  ...CODE_FAILURES,
  ...(['validation_failed', 'invalid_expression', 'unknown_token', 'too_many_tokens', 'access_denied'] as const),
];

const EXPRESSIONS_LATER = {
  expressions: 'Expressions in `args` are read when it runs; faults in them are its result.',
};

export function reactorRequestRoutes(requests: RequestCalls): RouteRecord[] {
  return [...callerRoutes(requests), ...keeperRoutes(requests)];
}

/** Of whoever has a Reactor run. */
function callerRoutes(requests: RequestCalls): RouteRecord[] {
  const calls = { ...base, permission: 'token:use', admits: ['application', 'session'], audit: one } as const;
  return [
    defineRoute({
      ...calls,
      method: 'POST',
      path: '/reactors/:id/react-async',
      summary: 'Run a Reactor later',
      description: 'Takes the call on and answers at once. It runs once or, where a server ends in between, again.',
      anyBody: true,
      optionalBody: true,
      ...PAYLOAD,
      describes: { body: ReactAsyncDocument, rules: EXPRESSIONS_LATER },
      example: { ...MADE, body: { args: { name: 'Ada' } } },
      status: 202,
      response: ReactAsyncBody,
      failures: ['reactors_unavailable', 'overloaded', 'validation_failed'],
      handle: ({ principal, auditContext, params, body }) =>
        requests.reactAsync(principal, auditContext, params.id, body),
    }),
    defineRoute({
      ...calls,
      method: 'GET',
      path: '/reactors/:id/results/:request_id',
      summary: 'Get the result of a run',
      description:
        'The answer or the error of a call that was taken on, for whoever made it. 404 until it is there; kept for 24 hours.',
      example: ASKED,
      status: 200,
      response: ReactBody,
      failures: FAILURES,
      audit: { ...one, onRead: REACTOR_EVENTS.retrieved },
      handle: ({ principal, auditContext, params }) =>
        requests.result(principal, auditContext.atMs, params.id, params.request_id),
    }),
  ];
}

/** Of whoever looks after a Reactor. */
function keeperRoutes(requests: RequestCalls): RouteRecord[] {
  const keeps = { ...base, admits: ['application', 'user'] } as const;
  return [
    defineRoute({
      ...keeps,
      method: 'GET',
      path: '/reactors/:id/requests',
      permission: 'reactor:read',
      summary: 'List the requests of a Reactor',
      description: 'Those that wait, run, are being delivered or failed, newest first. Without arguments and results.',
      query: ReactorRequestsQuery,
      example: MADE,
      status: 200,
      response: ReactorRequestList,
      audit: { ...one, onRead: REACTOR_EVENTS.retrieved },
      handle: ({ principal, params, query }) => requests.list(principal.tenantId, params.id, query),
    }),
    defineRoute({
      ...keeps,
      method: 'POST',
      path: '/reactors/:id/requests/:request_id/retry',
      permission: 'reactor:update',
      summary: 'Try a request again',
      description:
        'One that failed is due at once: to be delivered if it has run, else to run. Any other stays as it is.',
      example: ASKED,
      status: 200,
      response: ReactorRequestBody,
      audit: one,
      handle: ({ principal, auditContext, params }) =>
        requests.retry(principal.tenantId, auditContext, params.id, params.request_id),
    }),
    defineRoute({
      ...keeps,
      method: 'POST',
      path: '/reactors/:id/requests/:request_id/cancel',
      permission: 'reactor:update',
      summary: 'Cancel a request',
      description: 'One that is not over ends, and nothing of it is delivered. Any other stays as it is.',
      example: OVER,
      status: 200,
      response: ReactorRequestBody,
      audit: one,
      handle: ({ principal, auditContext, params }) =>
        requests.cancel(principal.tenantId, auditContext, params.id, params.request_id),
    }),
  ];
}
