import type { RouteRecord } from '../../../http/routes/route.js';
import { defineRoute } from '../../../http/routes/route.js';
import { PROXY_EVENTS } from '../events.js';
import { EphemeralPreviewDocument, ProxyPreviewBody, StoredPreviewDocument } from './schema.js';
import type { ProxyPreviews } from './service.js';

/** As of a body with expressions in a call. */
const PAYLOAD = { bodyBytesMax: 5_242_880, bodyValuesMax: 100_000 } as const;
const RULES = {
  expressions: 'Expressions parse, and name 100 tokens at most.',
  path: 'The path leads to something below the destination: without dot segments and backslashes.',
  body: 'A body that is no string has a Content-Type of JSON, or none.',
};
const BASE_URL = { base_url: '`destination_url` is an absolute address without a user, query or fragment.' };
const REQUEST = {
  method: 'POST',
  path: '/charges?cents=1999',
  headers: { 'Content-Type': 'application/json' },
  body: { name: 'Ada' },
};

/** For those who may use tokens, and for those who look after Proxies: which of them it is decides what is shown. */
export function proxyPreviewRoutes(previews: ProxyPreviews): RouteRecord[] {
  const preview = {
    limits: [],
    tag: 'Proxies',
    method: 'POST',
    anyBody: true,
    ...PAYLOAD,
    permission: 'token:use or proxy:update',
    admits: ['application', 'session', 'user'],
    changesNothing: true,
    status: 200,
    response: ProxyPreviewBody,
    failures: ['invalid_expression', 'too_many_tokens'],
  } as const;
  return [
    defineRoute({
      ...preview,
      path: '/proxies/preview',
      summary: 'Show an ephemeral request',
      description:
        'What would be sent to the address, with masks in place of tokens. With proxy:update alone expressions stay as written. Nothing is sent.',
      describes: { body: EphemeralPreviewDocument, rules: { ...RULES, ...BASE_URL } },
      example: { body: { destination_url: 'https://api.example.com/v1', ...REQUEST } },
      audit: { entityId: '*', onDenied: PROXY_EVENTS.denied },
      handle: ({ principal, auditContext, body }) => previews.ephemeral(principal, auditContext, body),
    }),
    defineRoute({
      ...preview,
      path: '/proxies/:id/preview',
      summary: 'Show a request through a Proxy',
      description: 'The same with the destination of the Proxy. Its code does not run.',
      describes: { body: StoredPreviewDocument, rules: RULES },
      example: { after: 'POST /proxies', params: { id: '$response.body#/id' }, body: REQUEST },
      audit: { entityId: { param: 'id' }, onDenied: PROXY_EVENTS.denied },
      handle: ({ principal, auditContext, params, body }) => previews.stored(principal, auditContext, params.id, body),
    }),
  ];
}
