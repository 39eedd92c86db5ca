import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { idleRoutes } from '../../testing/idle-routes.js';
import type { TestApp } from '../../testing/test-app.js';
import { startTestApp } from '../../testing/test-app.js';
import { VERSION } from '../../version.js';
import { operatorRoutes } from '../operator-routes.js';
import type { RouteRecord } from '../routes/route.js';
import { failuresOf } from './failures.js';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly required: boolean; readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Answer>>;
  readonly 'x-permission'?: string;
  readonly 'x-application-types'?: readonly string[];
}

interface Content {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
}

interface Answer {
  readonly links?: Readonly<Record<string, object>>;
  readonly content?: Readonly<Record<string, Content>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

interface Schema {
  readonly properties: Readonly<Record<string, Record<string, unknown>>>;
  readonly required?: readonly string[];
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly examples: Readonly<Record<string, { readonly value: Readonly<Record<string, unknown>> }>>;
    readonly headers: Readonly<Record<string, unknown>>;
  };
}

/** Every member of a tree, with the name it goes by. */
function* membersOf(node: unknown): Generator<[string, unknown]> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, member] of Object.entries(node)) {
    yield [name, member];
    yield* membersOf(member);
  }
}

describe('the API document', () => {
  let app: TestApp;
  let document: Document;
  let text: string;
  let routes: readonly RouteRecord[];
  before(async () => {
    app = await startTestApp();
    const refuse = () => Promise.reject(new Error('nothing is called here'));
    const tenantRoutes = idleRoutes(app);
    routes = [
      ...tenantRoutes,
      ...operatorRoutes(
        { version: VERSION, reactors: () => ({ status: 'starting' }), checkReady: refuse },
        tenantRoutes,
      ),
    ];
    const answer = await app.call('GET', '/openapi.json');
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/);
    document = answer.json;
    text = answer.text;
  });
  after(() => app.close());

  const operationOf = ({ method, path }: RouteRecord): Operation | undefined =>
    document.paths[path.replace(/:([a-z_]+)/g, '{$1}')]?.[method.toLowerCase()];

  it('200 without a key, as OpenAPI 3.1 that a foreign validator accepts, with the version of the product', async () => {
    const result = await new Validator().validate(JSON.parse(text));
    assert.deepEqual(result.errors ?? [], []);
    assert.ok(result.valid);
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, VERSION);
  });

  it('describes every route and none besides', () => {
    const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const served = routes.map(({ method, path }) => `${method} ${path.replace(/:([a-z_]+)/g, '{$1}')}`);
    assert.deepEqual(documented.sort(), served.sort());
  });

  it('gives each route its success and every failure it can answer with', () => {
    for (const route of routes) {
      const title = `${route.method} ${route.path}`;
      const { responses } = operationOf(route) ?? assert.fail(title);
      const { otherSuccess } = route;
      const expected = [
        route.status,
        ...(otherSuccess ? [otherSuccess.status] : []),
        400,
        408,
        429,
        431,
        500,
        503,
        ...failuresOf(route).keys(),
      ];
      if (route.permission !== 'public') expected.push(401);
      if (route.permission !== 'public' && route.permission !== 'any key') expected.push(403);
      if (['POST', 'PUT', 'PATCH'].includes(route.method) && !route.changesNothing) expected.push(409);
      if (route.body || route.anyBody) expected.push(413, 415);
      if (route.path.includes(':')) expected.push(404);
      const statuses = [...new Set(expected)].map(String).sort();
      assert.deepEqual(Object.keys(responses).sort(), statuses, title);
      for (const [status, response] of Object.entries(responses)) {
        const types = Object.keys(response.content ?? {});
        if (Number(status) >= 400) assert.deepEqual(types, ['application/problem+json'], `${title} ${status}`);
        else if (Number(status) === otherSuccess?.status)
          assert.deepEqual(types, otherSuccess.response ? ['application/json'] : []);
        else assert.deepEqual(types, route.response ? ['application/json'] : [], `${title} ${status}`);
      }
    }
  });

  it('says who may call each route', () => {
    for (const route of routes) {
      const operation = operationOf(route);
      const isPublic = route.permission === 'public';
      assert.deepEqual(operation?.security, isPublic ? [] : [{ apiKey: [] }], route.path);
      assert.equal(operation?.['x-permission'], isPublic ? 'none' : route.permission, route.path);
    }
  });

  it('names the types of Applications that can hold the permission', () => {
    const typesOf = (path: string, method: string) => document.paths[path]?.[method]?.['x-application-types'];
    assert.deepEqual(typesOf('/tokens', 'post'), ['public', 'private']);
    assert.deepEqual(typesOf('/tokens', 'get'), ['private']);
    assert.deepEqual(typesOf('/tenants/self', 'put'), ['management']);
    assert.deepEqual(typesOf('/sessions', 'post'), ['public']);
    assert.deepEqual(typesOf('/sessions/authorize', 'post'), ['private']);
    assert.deepEqual(typesOf('/permissions', 'get'), ['public', 'private', 'management']);
    assert.deepEqual(typesOf('/applications/key', 'get'), ['public', 'private', 'management']);
    assert.deepEqual(typesOf('/healthz', 'get'), []);
    for (const route of routes) assert.ok(operationOf(route)?.['x-application-types'], route.path);
  });

  it('shows an example of every failure, in the shape of a problem, and when to try again', () => {
    for (const route of routes) {
      const { responses } = operationOf(route) ?? assert.fail(route.path);
      for (const [status, codes] of failuresOf(route)) {
        const { content, headers = {} } = responses[status] ?? assert.fail(`${route.path} ${status}`);
        assert.deepEqual(Object.keys(content?.['application/problem+json']?.examples ?? {}), codes);
        assert.equal('Retry-After' in headers, status === 429 || status === 503, `${route.path} ${status}`);
        for (const code of codes) {
          const { value } = document.components.examples[code] ?? assert.fail(code);
          assert.deepEqual([value.status, value.code, value.type], [status, code, `urn:strongroom:problem:${code}`]);
          for (const field of document.components.schemas.Problem?.required ?? []) assert.ok(value[field], field);
        }
      }
    }
  });

  it('has a whole example for every body', () => {
    for (const route of routes) {
      for (const [type, content] of Object.entries(operationOf(route)?.requestBody?.content ?? {})) {
        assert.ok('example' in content, `${route.method} ${route.path} ${type}`);
      }
    }
  });

  it('takes a PATCH as merge patch and as JSON, and everything else as JSON alone', () => {
    for (const route of routes) {
      const types = Object.keys(operationOf(route)?.requestBody?.content ?? { 'application/json': {} });
      const merge = route.method === 'PATCH' ? ['application/merge-patch+json'] : [];
      assert.deepEqual(types, [...merge, 'application/json'], `${route.method} ${route.path}`);
    }
  });

  it('has a summary, a description and an id of its own for each operation', () => {
    const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
    for (const { operationId, summary, description } of operations) {
      assert.match(operationId, /^[a-z][a-zA-Z0-9_]*$/);
      assert.ok(summary.length > 3 && description.length > 3, operationId);
    }
    assert.equal(new Set(operations.map(({ operationId }) => operationId)).size, operations.length);
  });

  it('resolves every reference, and leaves no component unused', () => {
    const used = [...membersOf(document)].filter(([name]) => name === '$ref').map(([, target]) => String(target));
    const there = (['schemas', 'examples', 'headers'] as const).flatMap((kind) =>
      Object.keys(document.components[kind]).map((name) => `#/components/${kind}/${name}`),
    );
    assert.deepEqual([...new Set(used)].sort(), there.sort());
  });

  it('shows no note of ours: no error sentence, no private format, no mark of the schema library', () => {
    assert.ok(!text.includes('x-error-message'));
    for (const [name, member] of membersOf(document.paths)) {
      const isOurs = name.startsWith('~') || name.startsWith('x-');
      assert.ok(!isOurs || ['x-permission', 'x-application-types', 'x-request-body'].includes(name), name);
      if (name === 'format') assert.ok(['uuid', 'date-time'].includes(String(member)), String(member));
    }
    for (const [name, member] of membersOf(document.components)) {
      assert.ok(!name.startsWith('~') && !name.startsWith('x-'), name);
      if (name === 'format') assert.ok(['uuid', 'date-time'].includes(String(member)), String(member));
    }
  });

  it('says what generators of clients look for: the type of every choice, and maps by their values', () => {
    for (const [name, member] of membersOf(document)) {
      if (typeof member !== 'object' || member === null) continue;
      if ('enum' in member) assert.equal('type' in member && member.type, 'string', name);
      assert.ok(!('patternProperties' in member), `${name} is a map of additionalProperties`);
    }
    const { metadata } = document.components.schemas.Token?.properties ?? {};
    assert.deepEqual(metadata, { type: 'object', additionalProperties: { type: 'string' } });
  });

  it('describes the specified shapes field by field', () => {
    const fields = (name: string) => Object.keys(document.components.schemas[name]?.properties ?? {}).sort();
    const required = (name: string) => [...(document.components.schemas[name]?.required ?? [])].sort();
    assert.deepEqual(fields('Permission'), ['application_types', 'description', 'type']);
    assert.deepEqual(fields('EntityType'), ['display_name', 'value']);
    assert.deepEqual(required('Tenant'), ['id', 'name', 'owner_id', 'settings']);
    const stamps = ['created_at', 'created_by', 'modified_at', 'modified_by'];
    assert.deepEqual(fields('Tenant'), [...stamps, 'id', 'name', 'owner_id', 'settings'].sort());
    assert.deepEqual(fields('TenantSettings'), ['deduplicate_tokens', 'fingerprint_tokens']);
    assert.deepEqual(document.components.schemas.TenantSettings?.properties.fingerprint_tokens?.enum, [
      'true',
      'false',
    ]);
    const log = ['created_at', 'entity_id', 'entity_type', 'message', 'operation', 'tenant_id'];
    assert.deepEqual(required('Log'), log);
    assert.deepEqual(fields('TokenTypeMetrics'), ['count', 'last_created_at']);
    assert.deepEqual(document.components.schemas.TenantUpdate?.properties.name?.maxLength, 200);
    assert.deepEqual(required('TenantUpdate'), ['name']);
  });

  it('names every query parameter', () => {
    const parameters = (path: string, method = 'get') =>
      document.paths[path]?.[method]?.parameters.map(({ name }) => name).sort();
    assert.deepEqual(parameters('/permissions'), ['application_type']);
    const filters = ['actor_id', 'end_date', 'entity_id', 'entity_type', 'operation', 'outcome', 'start_date'];
    assert.deepEqual(parameters('/logs'), [...filters, 'include', 'page', 'size', 'start'].sort());
    assert.deepEqual(parameters('/applications/{id}/keys'), ['id', 'id']);
    assert.deepEqual(parameters('/tenants/self'), []);
    assert.deepEqual(parameters('/tenants/self', 'put'), ['SVC-IDEMPOTENCY-KEY']);
    assert.deepEqual(parameters('/tenants/self', 'delete'), []);
  });

  it('has no schema named New and the name of another, which a client in Go has as a function', () => {
    const names = Object.keys(document.components.schemas);
    assert.deepEqual(
      names.filter((name) => names.includes(name.replace(/^New/, '')) && name.startsWith('New')),
      [],
    );
  });

  it('has choices and their default on two levels where null is one too, or a client in Go does not compile', () => {
    const wrong: string[] = [];
    JSON.stringify(document.components.schemas, (name, value) => {
      const members: unknown[] = value?.anyOf ?? [];
      const isBoth = (member: unknown) =>
        typeof member === 'object' && member !== null && 'enum' in member && 'default' in member;
      if (members.some(isBoth)) wrong.push(name);
      return value;
    });
    assert.deepEqual(wrong, []);
  });

  it('has links that every tool can read: the Java ones take no object as the body of one', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { responses }] of Object.entries(operations)) {
        for (const { links = {} } of Object.values(responses)) {
          for (const link of Object.values(links)) assert.ok(!('requestBody' in link), `${method} ${path}`);
        }
      }
    }
  });

  it('asks for a body exactly where one is read', () => {
    for (const route of routes) {
      const isRead = route.body !== undefined || route.anyBody === true;
      const expected = isRead ? !route.optionalBody : undefined;
      assert.equal(operationOf(route)?.requestBody?.required, expected, route.path);
    }
  });
});
