import Type from 'typebox';
import type { RouteRecord } from '../../http/routes/route.js';
import { defineRoute } from '../../http/routes/route.js';
import { TOKEN_EVENTS } from '../../vault/index.js';
import { NewTokenDocument, TOKENIZE_COMPONENTS, TokenPatchDocument } from './document/bodies.js';
import * as examples from './document/examples.js';
import { JSON_COMPONENTS, ref } from './document/json.js';
import {
  DETOKENIZE_RULES,
  NEW_TOKEN_RULES,
  SEARCH_RULES,
  TOKEN_PATCH_RULES,
  TOKENIZE_RULES,
} from './document/rules.js';
import { readListFilters } from './input/list-filters.js';
import {
  ListFiltersDocument,
  ListQuery,
  ListV2FiltersDocument,
  ListV2Query,
  SearchBody,
  SearchV2Body,
  TokenBody,
  TokenList,
  TokenListV2,
} from './schema.js';
import type { Tokens } from './service.js';

export function tokenRoutes(tokens: Tokens): RouteRecord[] {
  return [
    createRoute(tokens),
    ...singleRoutes(tokens),
    ...listRoutes(tokens),
    ...searchRoutes(tokens),
    ...bodyRoutes(tokens),
  ];
}

const TAG = { tag: 'Tokens' } as const;
const ON_MANY = { audit: { entityId: '*', onDenied: TOKEN_EVENTS.denied } } as const;

function createRoute(tokens: Tokens): RouteRecord {
  return defineRoute({
    ...TAG,
    ...ON_MANY,
    method: 'POST',
    path: '/tokens',
    permission: 'token:create',
    admits: ['application', 'session'],
    limits: ['tokens-create'],
    summary: 'Create a token',
    description: 'Stores a value. With deduplication the answer may be the token that holds the same value already.',
    anyBody: true,
    describes: { body: NewTokenDocument, components: JSON_COMPONENTS, rules: NEW_TOKEN_RULES },
    example: examples.NEW_TOKEN,
    status: 201,
    response: TokenBody,
    location: ({ id }) => `/tokens/${encodeURIComponent(id)}`,
    failures: ['validation_failed', 'invalid_expression', 'access_denied', 'token_id_conflict'],
    handle: ({ principal, auditContext, body }) => tokens.create(principal, auditContext, body),
  });
}

function singleRoutes(tokens: Tokens): RouteRecord[] {
  const onOne = {
    audit: { entityId: { param: 'id', isText: true }, entityTypeOf: tokens.typeOf, onDenied: TOKEN_EVENTS.denied },
  } as const;
  return [
    defineRoute({
      ...TAG,
      ...onOne,
      method: 'GET',
      path: '/tokens/:id',
      permission: 'token:read',
      admits: ['application', 'session'],
      limits: [],
      summary: 'Get a token',
      description: 'Its data is shown as far as the access rule that grants the read says.',
      example: examples.GET,
      status: 200,
      response: TokenBody,
      failures: ['access_denied'],
      handle: ({ principal, auditContext, params }) => tokens.get(principal, auditContext, params.id ?? ''),
    }),
    defineRoute({
      ...TAG,
      ...onOne,
      method: 'PATCH',
      path: '/tokens/:id',
      permission: 'token:update',
      admits: ['application', 'session'],
      limits: [],
      summary: 'Change a token',
      description: 'Data, mask and metadata are merged (RFC 7386); other fields are replaced; null removes.',
      anyBody: true,
      describes: { body: TokenPatchDocument, components: JSON_COMPONENTS, rules: TOKEN_PATCH_RULES },
      example: examples.PATCH,
      status: 200,
      response: TokenBody,
      failures: ['validation_failed', 'invalid_expression', 'access_denied'],
      handle: ({ principal, auditContext, params, body }) =>
        tokens.update(principal, auditContext, params.id ?? '', body),
    }),
    defineRoute({
      ...TAG,
      ...onOne,
      method: 'DELETE',
      path: '/tokens/:id',
      permission: 'token:delete',
      admits: ['application', 'session'],
      limits: [],
      summary: 'Delete a token',
      description: 'It is gone at once and for good.',
      status: 204,
      failures: ['access_denied'],
      handle: ({ principal, auditContext, params }) => tokens.delete(principal, auditContext, params.id ?? ''),
    }),
  ];
}

function listRoutes(tokens: Tokens): RouteRecord[] {
  const list = {
    ...TAG,
    ...ON_MANY,
    method: 'GET',
    permission: 'token:read',
    admits: ['application', 'session'],
    limits: ['tokens-list'],
  } as const;
  return [
    defineRoute({
      ...list,
      path: '/tokens',
      summary: 'List tokens',
      description: 'The tokens the caller may read, newest first. Filters: id, type, container, metadata.<key>.',
      query: ListQuery,
      readQuery: readListFilters,
      describes: { query: ListFiltersDocument },
      status: 200,
      response: TokenList,
      handle: ({ principal, auditContext, query, filters: { fingerprint: _, ...filters } }) =>
        tokens.listNumbered(principal, auditContext, { by: 'filters', filters }, query),
    }),
    defineRoute({
      ...list,
      path: '/v2/tokens',
      // The path counts with its v1 twin, which is where tokens are made.
      limitsOfRefused: { POST: ['tokens-create'] },
      summary: 'List tokens by cursor',
      description: 'As the other list, also by fingerprint; a container includes what is below it.',
      query: ListV2Query,
      readQuery: readListFilters,
      describes: { query: ListV2FiltersDocument },
      status: 200,
      response: TokenListV2,
      failures: ['invalid_cursor', 'search_bound'],
      handle: ({ principal, auditContext, query, filters }) =>
        tokens.listFollowing(principal, auditContext, { by: 'filters', filters }, query),
    }),
  ];
}

function searchRoutes(tokens: Tokens): RouteRecord[] {
  const search = {
    ...TAG,
    ...ON_MANY,
    method: 'POST',
    permission: 'token:search',
    admits: ['application', 'session'],
    limits: ['tokens-search'],
    changesNothing: true,
  } as const;
  return [
    defineRoute({
      ...search,
      path: '/tokens/search',
      summary: 'Search tokens',
      description: 'The tokens the caller may search that match, newest first.',
      body: SearchBody,
      describes: { rules: SEARCH_RULES },
      example: examples.SEARCH,
      optionalBody: true,
      status: 200,
      response: TokenList,
      failures: ['invalid_query', 'search_bound'],
      handle: ({ principal, auditContext, body }) =>
        tokens.listNumbered(principal, auditContext, { by: 'query', query: body.query ?? '' }, body),
    }),
    defineRoute({
      ...search,
      path: '/v2/tokens/search',
      summary: 'Search tokens by cursor',
      description: 'As the other search; a container includes what is below it.',
      body: SearchV2Body,
      describes: { rules: SEARCH_RULES },
      example: examples.SEARCH,
      optionalBody: true,
      status: 200,
      response: TokenListV2,
      failures: ['invalid_query', 'invalid_cursor', 'search_bound'],
      handle: ({ principal, auditContext, body }) =>
        tokens.listFollowing(principal, auditContext, { by: 'query', query: body.query ?? '' }, body),
    }),
  ];
}

function bodyRoutes(tokens: Tokens): RouteRecord[] {
  const base = { ...TAG, ...ON_MANY, method: 'POST', anyBody: true, status: 200, response: Type.Unknown() } as const;
  return [
    defineRoute({
      ...base,
      path: '/tokenize',
      permission: 'token:create',
      admits: ['application', 'session'],
      limits: ['tokens-create'],
      summary: 'Tokenize',
      description: 'Makes tokens of the values in any JSON and answers in its shape: all of them, or none.',
      describes: { body: ref('TokenizeValue'), components: TOKENIZE_COMPONENTS, rules: TOKENIZE_RULES },
      example: examples.TOKENIZE,
      failures: ['validation_failed', 'invalid_expression', 'too_many_tokens', 'access_denied', 'token_id_conflict'],
      handle: ({ principal, auditContext, body }) => tokens.tokenize(principal, auditContext, body),
    }),
    defineRoute({
      ...base,
      path: '/detokenize',
      bodyValuesMax: 100_000,
      changesNothing: true,
      permission: 'token:read',
      admits: ['application', 'session'],
      limits: [],
      summary: 'Detokenize',
      description: 'Puts values in place of the expressions in any JSON and answers in its shape.',
      describes: { body: ref('JsonValue'), components: JSON_COMPONENTS, rules: DETOKENIZE_RULES },
      example: examples.DETOKENIZE,
      failures: ['invalid_expression', 'unknown_token', 'too_many_tokens', 'access_denied'],
      handle: ({ principal, auditContext, body }) => tokens.detokenize(principal, auditContext, body),
    }),
  ];
}
