import type { Requirement } from '../../access/authorize.js';
import { assert } from '../../kernel/assert.js';
import type { ErrorCode } from '../../kernel/errors.js';
import { ERROR_CATALOGUE } from '../../kernel/errors.js';
import type { RouteRecord } from '../routes/route.js';
import { keepsAnswer, takesBody } from '../routes/route.js';
import { ERROR_MESSAGE } from '../routes/schema.js';

type Json = Record<string, unknown>;

export interface OpenApiOptions {
  readonly version: string;
  readonly routes: readonly RouteRecord[];
}

const PROBLEM: Json = {
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

const IDEMPOTENCY_KEY: Json = {
  name: 'SVC-IDEMPOTENCY-KEY',
  in: 'header',
  required: false,
  description:
    'Repeating a request with the same key gives the first answer again, for 24 hours, and does nothing. With a public API key the body counts too.',
  schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' },
};

const OWN_FORMATS: ReadonlySet<unknown> = new Set(['text', 'name', 'iso-date']);

/** The whole API as an OpenAPI 3.1 document, made from the route records the server itself runs on. */
export function buildOpenApi(options: OpenApiOptions): Json {
  const schemas: Json = { Problem: PROBLEM };
  const paths: Record<string, Json> = {};
  for (const route of options.routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Strongroom',
      version: options.version,
      description: 'Multi-tenant data tokenization. Every call carries the API key of an Application.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(options.routes.map((route) => route.tag))].map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' } },
    },
  };
}

function operationOf(route: RouteRecord, schemas: Json): Json {
  const responses: Json = { [route.status]: successOf(route, schemas) };
  for (const [status, codes] of failuresOf(route)) responses[status] = failureOf(codes);
  return {
    operationId: `${route.method.toLowerCase()}${route.path.replace(/[^a-z0-9]+/gi, '_')}`.replace(/_$/, ''),
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    security: route.permission === 'public' ? [] : [{ apiKey: [] }],
    ...(route.permission !== 'public' && { 'x-permission': route.permission }),
    parameters: parametersOf(route, schemas),
    ...(takesBody(route) && { requestBody: requestBodyOf(route, schemas) }),
    responses,
  };
}

function requestBodyOf(route: RouteRecord, schemas: Json): Json {
  const described = route.body ?? route.describes?.body;
  const schema = described ? publish(described, schemas) : { description: 'Any JSON value.' };
  return { required: !route.optionalBody, content: { 'application/json': { schema } } };
}

function successOf(route: RouteRecord, schemas: Json): Json {
  const headers = route.location && {
    Location: { description: 'Path of what was made.', schema: { type: 'string' } },
  };
  return {
    description: route.response ? 'Success.' : 'Done; no body.',
    ...(headers && { headers }),
    ...(route.response && { content: { 'application/json': { schema: publish(route.response, schemas) } } }),
  };
}

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

function failureOf(codes: readonly ErrorCode[]): Json {
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

function parametersOf(route: RouteRecord, schemas: Json): Json[] {
  const inPath = [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  // Query schemas are objects.
  const [query, described] = [route.query, route.describes?.query] as { properties?: Record<string, Json> }[];
  const properties = { ...query?.properties, ...described?.properties };
  const inQuery = Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = publish(schema, schemas) as Json; // A published schema is an object.
    return { name, in: 'query', required: false, ...(description !== undefined && { description }), schema: rest };
  });
  return [...inPath, ...inQuery, ...(keepsAnswer(route) ? [IDEMPOTENCY_KEY] : [])];
}

/**
 * A copy fit for the document: titled schemas become components, our own notes and formats are left out, and what generators
 * of clients look for is spelled out.
 */
function publish(node: unknown, schemas: Json): unknown {
  if (Array.isArray(node)) return node.map((member) => publish(member, schemas));
  if (typeof node !== 'object' || node === null) return node;
  const copy: Json = {};
  for (const [name, member] of Object.entries(node)) {
    const isInternal = name === ERROR_MESSAGE || name === 'title' || (name === 'format' && OWN_FORMATS.has(member));
    if (!isInternal) copy[name] = publish(member, schemas);
  }
  if (Array.isArray(copy.enum)) copy.type = 'string';
  if (copy.patternProperties !== undefined) {
    copy.additionalProperties = mapValueOf(copy.patternProperties);
    delete copy.patternProperties;
  }
  const { title } = node as { title?: unknown }; // Read as unknown and checked here.
  if (typeof title !== 'string') return copy;
  schemas[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}

/** Our maps take any key: a generator makes a map of this, and nothing of a pattern. */
function mapValueOf(patternProperties: unknown): unknown {
  const [value, ...others] = Object.values(patternProperties as Json); // A published schema has an object here.
  assert(others.length === 0, 'a map has values of one kind');
  return value;
}
