import type { Requirement } from '../../access/authorize.js';
import { permissionsIn } from '../../access/authorize.js';
import type { ApplicationType } from '../../access/permissions.js';
import { APPLICATION_TYPES, mayHold } from '../../access/permissions.js';
import type { OtherSuccessRecord, RouteRecord } from '../routes/route.js';
import { keepsAnswer, takesBody } from '../routes/route.js';
import type { StreamDescription, StreamRoute } from '../routes/stream-route.js';
import { documentPath, exampleBodyOf, linksOf, operationIdOf } from './examples.js';
import { FAILURE_HEADERS, failureOf, failuresOf, PROBLEM } from './failures.js';
import type { SchemaObject } from './publish.js';
import { component, OWN_FORMATS, publish } from './publish.js';

export interface OpenApiOptions {
  readonly version: string;
  readonly routes: readonly RouteRecord[];
  /** Those that describe themselves. */
  readonly streams?: readonly StreamRoute[];
}

/** What operations share, filled while they are written. */
interface Components {
  readonly schemas: SchemaObject;
  readonly examples: SchemaObject;
}

const IDEMPOTENCY_KEY: SchemaObject = {
  name: 'SVC-IDEMPOTENCY-KEY',
  in: 'header',
  required: false,
  description:
    'Repeating a request with the same key gives the first answer again, for 24 hours, and does nothing. With a public API key the body counts too.',
  schema: { type: 'string', minLength: 1, maxLength: 200, pattern: '^[\\x21-\\x7e]+$' },
};

/** The whole API as an OpenAPI 3.1 document, made from the route records the server itself runs on. */
export function buildOpenApi(options: OpenApiOptions): SchemaObject {
  const components: Components = { schemas: { Problem: PROBLEM }, examples: {} };
  const paths: Record<string, SchemaObject> = {};
  for (const route of options.routes) {
    const path = documentPath(route.path);
    const operation = operationOf(route, options.routes, components);
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation };
  }
  for (const { path, ...route } of options.streams ?? []) {
    if (route.describes)
      paths[documentPath(path)] = { get: streamOperationOf({ ...route, path }, route.describes, components) };
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
      ...components,
      headers: FAILURE_HEADERS,
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'SVC-API-KEY' } },
    },
  };
}

function operationOf(route: RouteRecord, routes: readonly RouteRecord[], components: Components): SchemaObject {
  const responses: SchemaObject = { [route.status]: successOf(route, routes, components.schemas) };
  const { otherSuccess } = route;
  if (otherSuccess) responses[otherSuccess.status] = otherSuccessOf(otherSuccess, components.schemas);
  for (const [status, codes] of failuresOf(route)) responses[status] = failureOf(status, codes, components.examples);
  return {
    operationId: operationIdOf(route),
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    security: route.permission === 'public' ? [] : [{ apiKey: [] }],
    'x-permission': route.permission === 'public' ? 'none' : route.permission,
    'x-application-types': applicationTypesOf(route.permission),
    parameters: parametersOf(route, components.schemas),
    ...(takesBody(route) && { requestBody: requestBodyOf(route, components.schemas) }),
    responses,
  };
}

/** Of a stream, which is read: its answer by media types, where other routes have JSON. */
function streamOperationOf(route: StreamRoute, describes: StreamDescription, components: Components): SchemaObject {
  const { answers, ...words } = describes;
  const asJson: RouteRecord = { ...route, ...words, kind: 'json', method: 'GET', status: 200, handle: () => undefined };
  const operation = operationOf(asJson, [], components);
  const content = Object.entries(answers).map(([type, schema]) => [type, { schema: publish(schema, components) }]);
  const success = { description: 'Success.', content: Object.fromEntries(content) };
  return { ...operation, responses: { ...(operation.responses as SchemaObject), 200: success } };
}

/** The types of the Applications whose keys can be let in; none where no key is needed. */
export function applicationTypesOf(requirement: Requirement): ApplicationType[] {
  switch (requirement) {
    case 'public':
      return [];
    case 'any key':
    case 'any application key':
      return [...APPLICATION_TYPES];
    case 'public application key':
      return ['public'];
    case 'private application key':
      return ['private'];
    default:
      return APPLICATION_TYPES.filter((type) =>
        permissionsIn(requirement).some((permission) => mayHold(type, permission)),
      );
  }
}

function requestBodyOf(route: RouteRecord, schemas: SchemaObject): SchemaObject {
  const { body, components = {}, rules = {} } = route.describes ?? {};
  for (const [name, schema] of Object.entries(components)) {
    component(name, publish(schema, { schemas }) as SchemaObject, schemas); // A published schema is an object.
  }
  const schema = route.body ? publish(route.body, { schemas, nullsAreAbsent: true }) : publish(body, { schemas });
  const content = { schema, ...(route.example && { example: exampleBodyOf(route.example) }) };
  const sentences = Object.entries({ ...rulesIn(route.body), ...rules });
  return {
    ...(sentences.length > 0 && { description: inWords(sentences) }),
    required: !route.optionalBody,
    content: {
      ...(route.method === 'PATCH' && { 'application/merge-patch+json': content }),
      'application/json': content,
    },
  };
}

function inWords(rules: readonly (readonly [string, string])[]): string {
  const lines = rules.map(([name, sentence]) => `- \`${name}\`: ${sentence}`);
  return ['Checked besides the schema:', '', ...lines].join('\n');
}

/** The rules behind the formats of our own that a schema uses. */
function rulesIn(node: unknown): Record<string, string> {
  if (typeof node !== 'object' || node === null) return {};
  const { format } = node as { format?: unknown }; // Read as unknown and checked here.
  const own = typeof format === 'string' ? OWN_FORMATS[format] : undefined;
  const rules: Record<string, string> = own === undefined ? {} : { [String(format)]: own };
  for (const member of Object.values(node)) Object.assign(rules, rulesIn(member));
  return rules;
}

function successOf(route: RouteRecord, routes: readonly RouteRecord[], schemas: SchemaObject): SchemaObject {
  const headers = route.location && {
    Location: { description: 'Path of what was made.', schema: { type: 'string' } },
  };
  const links = linksOf(route, routes);
  return {
    description: route.response ? 'Success.' : 'Done; no body.',
    ...(headers && { headers }),
    ...(route.response && { content: { 'application/json': { schema: publish(route.response, { schemas }) } } }),
    ...(Object.keys(links).length > 0 && { links }),
  };
}

function otherSuccessOf({ description, response }: OtherSuccessRecord, schemas: SchemaObject): SchemaObject {
  return {
    description,
    ...(response && { content: { 'application/json': { schema: publish(response, { schemas }) } } }),
  };
}

function parametersOf(route: RouteRecord, schemas: SchemaObject): SchemaObject[] {
  const inPath = [...route.path.matchAll(/:([a-z_]+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  // Query schemas are objects.
  const [query, described] = [route.query, route.describes?.query] as { properties?: Record<string, SchemaObject> }[];
  const properties = { ...query?.properties, ...described?.properties };
  const inQuery = Object.entries(properties).map(([name, schema]) => {
    const { description, ...rest } = publish(schema, { schemas }) as SchemaObject; // A published schema is an object.
    return { name, in: 'query', required: false, ...(description !== undefined && { description }), schema: rest };
  });
  return [...inPath, ...inQuery, ...(keepsAnswer(route) ? [IDEMPOTENCY_KEY] : [])];
}
