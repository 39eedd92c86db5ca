import type { Requirement } from '../../access/authorize.js';
import type { ErrorCode } from '../../kernel/errors.js';
import { AppError, ERROR_CATALOGUE, overloaded, storageUnavailable, validationFailed } from '../../kernel/errors.js';
import type { RouteRecord } from '../routes/route.js';
import { keepsAnswer, takesBody } from '../routes/route.js';
import { problemOf } from '../transport/problem.js';
import type { SchemaObject } from './publish.js';

export const PROBLEM: SchemaObject = {
  type: 'object',
  description: 'A failure, as RFC 9457 problem details.',
  required: ['type', 'title', 'status', 'detail', 'code', 'trace_id'],
  properties: {
    type: { type: 'string', examples: ['urn:strongroom:problem:not_found'] },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string' },
    code: { type: 'string', enum: Object.keys(ERROR_CATALOGUE) },
    trace_id: { type: 'string' },
    errors: {
      type: 'object',
      description: 'Field path to messages; `$` is the whole body.',
      additionalProperties: { type: 'array', items: { type: 'string' } },
    },
  },
};

/** Headers of failures, as components. */
export const FAILURE_HEADERS: SchemaObject = {
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 0 } },
  RateLimit: {
    description: 'The limit that was reached and the seconds until it is open.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': { description: 'The limit: requests and seconds.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'The header the key goes into.', schema: { type: 'string' } },
};

const HEADERS_OF: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
};

/** What the product says with each code, or one of the things it says. */
const DETAILS: Readonly<Record<Exclude<ErrorCode, keyof typeof WHOLE>, string>> = {
  malformed_json: 'The body is not valid UTF-8.',
  malformed_request: 'The query has broken percent-encoding. Encode each byte as % and two hex digits.',
  ambiguous_credentials: 'Send either an API key or the cookie of the Portal, not both.',
  tenant_required: 'Say with SVC-TENANT-ID which Tenant is meant.',
  invalid_cursor: 'The cursor is damaged, or belongs to another list or other filters. Start again without it.',
  unknown_token: 'There are no tokens with these ids: 8ac6c1d5-7f0b-4d3d-8c2a-3a0f8f6f2d10.',
  too_many_tokens: 'One request may be about at most 100 tokens. Split it into several.',
  missing_api_key: 'The API key is missing. Send the key of an Application.',
  invalid_api_key: 'The API key is not valid. Check it, or ask for a new one.',
  invalid_portal_session: 'The session of the Portal is over. Sign in again.',
  permission_denied: 'This request needs the permission tenant:read, which the Application does not hold.',
  access_denied:
    'No access rule of this Application grants the operation on this token. Ask for a rule on its container.',
  wrong_application_type: 'This request needs the key of a private Application. Use another key.',
  cross_site_refused: 'A page of another site may not load this answer. Ask for it with fetch.',
  step_up_required: 'This takes a fresh sign-in. Sign in again, then repeat the request within 10 minutes.',
  second_factor_required: 'This Tenant asks for a second factor. Add one to your profile, then sign in with it.',
  role_not_grantable: 'Only a role can be given whose permissions the caller holds itself.',
  not_found: 'There is no such Application. GET /applications lists those there are.',
  method_not_allowed: 'This path does not take PATCH. It takes GET, HEAD, OPTIONS, POST.',
  request_timeout: 'The request took too long to arrive.',
  reactor_timeout: 'The code of the Reactor took longer than 30000 ms and was ended.',
  destination_timeout: 'The destination did not answer in time.',
  destination_unreachable: 'The destination cannot be reached, or it closed the connection.',
  idempotency_in_flight:
    'A request with this idempotency key is still being worked on. Try again shortly for its answer.',
  idempotency_answer_not_kept:
    'The first request with this idempotency key succeeded, and its answer is not there to be given again.',
  session_already_authorized: 'This nonce was used. Make a new session to grant other rights.',
  already_member: 'This address belongs to a member of the Tenant already.',
  payload_too_large: 'The body is larger than 1048576 bytes.',
  unsupported_media_type: 'Send the body as JSON with Content-Type: application/json.',
  reactor_code_invalid: 'Invalid Reactor Code',
  owner_protected: 'The owner keeps its role and its membership. Transfer the ownership first.',
  destination_refused: 'The destination is not allowed or cannot be found.',
  rate_limited: 'Too many requests from this address. Wait 60 second(s), then go on.',
  search_bound:
    'The Application has searched for 2000 values today that it is not shown in the clear. Wait until midnight UTC, or give it a rule that reveals.',
  sign_in_delayed: 'Too many failed sign-ins. Wait 30 second(s), then try again.',
  headers_too_large: 'The headers are larger than 16 KB.',
  reactors_unavailable:
    'This server cannot run code of tenants. Everything else works. Ask its operator, whose log says why.',
  internal_error: 'Something failed on our side. Try again; if it stays, give the trace id to the operator.',
};

/** Those that name fields, or are made in one place. */
const WHOLE = {
  validation_failed: validationFailed({ name: ['is required'] }),
  invalid_query: new AppError('invalid_query', 'The query could not be read at character 6: expected a value.', {
    errors: { query: ['character 6: expected a value.'] },
  }),
  invalid_expression: new AppError('invalid_expression', 'The expression does not parse.', {
    errors: { 'search_indexes[0]': ['The expression does not parse.'] },
  }),
  token_id_conflict: new AppError(
    'token_id_conflict',
    'A token with this id exists already. Choose another id, or leave it out.',
    { errors: { id: ['is taken'] } },
  ),
  reactor_error: new AppError('reactor_error', 'Reactor Runtime Error', { errors: { error: ['no such order'] } }),
  overloaded: overloaded(),
  storage_unavailable: storageUnavailable(undefined),
} as const satisfies Partial<Record<ErrorCode, AppError>>;

/** Every status the route can answer with, from its record alone. */
export function failuresOf(route: RouteRecord): Map<number, ErrorCode[]> {
  const codes: ErrorCode[] = [
    'malformed_request',
    'request_timeout',
    'rate_limited',
    'headers_too_large',
    'internal_error',
    'overloaded',
    'storage_unavailable',
  ];
  if (route.permission !== 'public') codes.push('missing_api_key', 'invalid_api_key');
  const denial = denialOf(route.permission);
  if (denial) codes.push(denial);
  if (keepsAnswer(route)) codes.push('idempotency_in_flight', 'idempotency_answer_not_kept');
  if (route.query || route.readQuery || takesBody(route)) codes.push('validation_failed');
  if (takesBody(route)) codes.push('malformed_json', 'payload_too_large', 'unsupported_media_type');
  if (route.path.includes(':')) codes.push('not_found');
  codes.push(...(route.failures ?? []));
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes)) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b));
}

function denialOf(requirement: Requirement): ErrorCode | undefined {
  if (requirement === 'public' || requirement === 'any key') return undefined;
  return requirement.endsWith(' application key') ? 'wrong_application_type' : 'permission_denied';
}

/** One status of one operation; the example of each code goes into the components. */
export function failureOf(status: number, codes: readonly ErrorCode[], examples: SchemaObject): SchemaObject {
  for (const code of codes) examples[code] = { summary: code, value: exampleOf(code) };
  const headers = HEADERS_OF[status] ?? [];
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    ...(headers.length > 0 && { headers: refs(headers, 'headers') }),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        examples: refs(codes, 'examples'),
      },
    },
  };
}

function refs(names: readonly string[], kind: string): SchemaObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/${kind}/${name}` }]));
}

/** Made by the very function that answers, so its shape is that of an answer. */
function exampleOf(code: ErrorCode): unknown {
  const error = isWhole(code) ? WHOLE[code] : new AppError(code, DETAILS[code]);
  return JSON.parse(problemOf(error, { traceId: '0f6f1c0e-6d0b-4c57-9a35-5f1f3c2a9d10', prefix: 'SVC' }).body);
}

function isWhole(code: ErrorCode): code is keyof typeof WHOLE {
  return Object.hasOwn(WHOLE, code);
}
