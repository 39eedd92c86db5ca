import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { inspect } from 'node:util';
import { Validator } from '@seriousme/openapi-schema-validator';
import Type from 'typebox';
import { TENANT_EVENTS } from '../../resources/tenants/events.js';
import { CALLER, type RouteServer, startRouteServer } from '../../testing/route-server.js';
import { buildOpenApi } from '../openapi/openapi.js';
import type { RouteRecord } from './route.js';
import { defineRoute, OtherSuccess } from './route.js';
import type { AuditedRequest } from './runner.js';
import { named } from './schema.js';

const BASE = {
  permission: 'any key',
  admits: ['application', 'session'],
  limits: [],
  tag: 'Things',
  summary: 'Thing',
  description: 'A thing.',
} as const;
const Echo = Type.Object({ got: Type.Unknown() });
const Thing = named('ThingUpdate', {
  note: Type.Optional(Type.String()),
  data: Type.Optional(Type.Unknown()),
  rules: Type.Optional(
    Type.Array(Type.Object({ description: Type.Optional(Type.String()), data: Type.Optional(Type.Unknown()) })),
  ),
});

const things = { ...BASE, path: '/things/:id', status: 200, response: Echo } as const;

const ROUTES: readonly RouteRecord[] = [
  defineRoute({ ...things, method: 'GET', handle: ({ params }) => ({ got: params }) }),
  defineRoute({ ...things, method: 'PUT', body: Thing, handle: ({ body }) => ({ got: body }) }),
  defineRoute({ ...things, method: 'PATCH', body: Thing, handle: ({ body }) => ({ got: body }) }),
  defineRoute({
    ...BASE,
    method: 'POST',
    path: '/optional',
    status: 201,
    body: Thing,
    optionalBody: true,
    response: Echo,
    location: ({ got }) => `/things/${encodeURIComponent(JSON.stringify(got))}`,
    handle: ({ body }) => Promise.resolve({ got: body }),
  }),
  defineRoute({
    ...BASE,
    method: 'POST',
    path: '/any',
    status: 200,
    anyBody: true,
    bodyBytesMax: 100,
    response: Echo,
    handle: ({ body }) => ({ got: body }),
  }),
  defineRoute({ ...BASE, method: 'POST', path: '/empty', status: 200, handle: () => undefined }),
  defineRoute({
    ...BASE,
    method: 'POST',
    path: '/either',
    status: 200,
    anyBody: true,
    optionalBody: true,
    response: Echo,
    otherSuccess: { status: 202, description: 'Later.', response: Type.Object({ later: Type.Integer() }) },
    handle: ({ body }) => (JSON.stringify(body) === '{}' ? { got: 1 } : new OtherSuccess({ later: 2, hidden: 3 })),
  }),
  defineRoute({ ...BASE, method: 'POST', path: '/accepted', status: 202, handle: () => Promise.resolve() }),
  defineRoute({
    ...BASE,
    method: 'GET',
    path: '/filtered',
    status: 200,
    query: Type.Object({ size: Type.Optional(Type.Integer({ minimum: 1 })) }),
    readQuery: (parameters, errors) => {
      const named = [...parameters].filter(([name]) => name.startsWith('metadata.'));
      if (named.some(([, values]) => values.length > 1)) errors.metadata = ['must name each key once'];
      return Object.fromEntries(named);
    },
    response: Echo,
    handle: ({ query, filters }) => ({ got: { query, filters } }),
  }),
  defineRoute({
    ...BASE,
    method: 'GET',
    path: '/key',
    status: 200,
    response: Echo,
    handle: (request) => ({ got: [request.apiKey.reveal(), JSON.stringify(request), inspect(request)] }),
  }),
  defineRoute({
    ...things,
    path: '/denied/:id',
    method: 'GET',
    permission: 'tenant:read',
    audit: { entityId: { param: 'id' }, onDenied: TENANT_EVENTS.denied },
    handle: () => ({ got: 'never' }),
  }),
];

describe('what a route record can say', () => {
  let server: RouteServer;
  const audited: AuditedRequest[] = [];
  before(async () => {
    const auditRequest = (request: AuditedRequest) => {
      audited.push(request);
      return Promise.resolve();
    };
    server = await startRouteServer(ROUTES, { auditRequest });
  });
  after(() => server.close());

  it('202 with its own declared fields where a handler answers with another success, as the document says', async () => {
    const usual = await server.call('POST', '/either', { key: 'k' });
    assert.deepEqual([usual.status, usual.json], [200, { got: 1 }]);
    const other = await server.call('POST', '/either', { key: 'k', body: [1] });
    assert.deepEqual([other.status, other.json], [202, { later: 2 }]);
    const text = JSON.stringify(buildOpenApi({ version: '1', routes: ROUTES }));
    const { responses } = JSON.parse(text).paths['/either'].post;
    assert.equal(responses[202].description, 'Later.');
  });

  it('hands path parameters over, decoded once', async () => {
    assert.deepEqual((await server.call('GET', '/things/a%20b%2Fc%253A/')).json.got, { id: 'a b/c%3A' });
  });

  it('404 for a parameter with U+0000, 400 for one that is no UTF-8', async () => {
    assert.equal((await server.call('GET', '/things/a%00')).status, 404);
    assert.equal((await server.call('GET', '/things/%ED%A0%80')).status, 400);
  });

  it('takes null for absent in known fields of a PUT, in listed objects too, and never inside free-form values', async () => {
    const data = { kept: null, list: [null, { inner: null }] };
    const body = {
      note: null,
      data,
      rules: [
        { description: null, data },
        { description: 'd', extra: null },
      ],
    };
    const { json } = await server.call('PUT', '/things/1', { body });
    assert.deepEqual(json.got, { data, rules: [{ data }, { description: 'd', extra: null }] });
    const whole = await server.call('PUT', '/things/1', { body: { data: null } });
    assert.deepEqual(whole.json.got, {});
    const inList = await server.call('PUT', '/things/1', { body: { rules: [null] } });
    assert.deepEqual([inList.status, Object.keys(inList.json.errors)], [400, ['rules[0]']]);
  });

  it('keeps null in a PATCH, where it removes', async () => {
    const body = { data: null, rules: [{ data: { a: null } }] };
    assert.deepEqual((await server.call('PATCH', '/things/1', { body })).json.got, body);
    const refused = await server.call('PATCH', '/things/1', { body: { note: null } });
    assert.equal(refused.status, 400, 'unless the schema does not allow to remove it');
  });

  it('201 for an optional body that is missing or empty, whatever its content type says', async () => {
    const attempts = [
      {},
      { headers: { 'Content-Type': 'application/x-www-form-urlencoded' } },
      { raw: '', headers: { 'Content-Type': 'application/json' } },
      { body: {} },
    ];
    for (const options of attempts) {
      const { status, json } = await server.call('POST', '/optional', options);
      assert.deepEqual([status, json.got], [201, {}]);
    }
    const form = await server.call('POST', '/optional', { raw: 'a=1', headers: { 'Content-Type': 'text/plain' } });
    assert.equal(form.status, 415);
    assert.equal((await server.call('POST', '/optional', { body: { note: 1 } })).status, 400);
  });

  it('201 with the Location the record makes of the answer', async () => {
    const { headers } = await server.call('POST', '/optional', { body: { note: 'a b' } });
    assert.equal(headers.get('location'), '/things/%7B%22note%22%3A%22a%20b%22%7D');
    assert.equal((await server.call('GET', '/things/1')).headers.get('location'), null);
  });

  it('200 for any JSON value where there is no schema, and 400, 413, 415 for what is none', async () => {
    for (const value of [null, 0, 'text', [null], { a: null }]) {
      const { status, json } = await server.call('POST', '/any', { body: value });
      assert.deepEqual([status, json.got], [200, value]);
    }
    const absent = await server.call('POST', '/any');
    assert.deepEqual([absent.status, Object.keys(absent.json.errors)], [400, ['$']]);
    assert.equal((await server.call('POST', '/any', { raw: '{' })).json.code, 'malformed_json');
    assert.equal((await server.call('POST', '/any', { raw: '['.repeat(65) + ']'.repeat(65) })).status, 413);
    assert.equal(
      (await server.call('POST', '/any', { raw: '1', headers: { 'Content-Type': 'text/xml' } })).status,
      415,
    );
  });

  it('200 and 202 without a body say that it is empty', async () => {
    for (const [path, status] of [
      ['/empty', 200],
      ['/accepted', 202],
    ] as const) {
      const answer = await server.call('POST', path);
      assert.deepEqual([answer.status, answer.text, answer.headers.get('content-length')], [status, '', '0']);
      assert.equal(answer.headers.get('content-type'), null);
    }
  });

  it('hands over what the record reads of the query by itself, and names its errors beside those of the schema', async () => {
    const fine = await server.call('GET', '/filtered?size=5&metadata.a=1&other=2');
    assert.deepEqual(fine.json.got, { query: { size: 5 }, filters: { 'metadata.a': ['1'] } });
    const refused = await server.call('GET', '/filtered?size=0&metadata.a=1&metadata.a=2');
    assert.deepEqual(Object.keys(refused.json.errors).sort(), ['metadata', 'size']);
    assert.equal((await server.call('GET', '/filtered?metadata.a=1&metadata.a=2')).status, 400);
  });

  it('shows the key to a handler that asks for it, and to nothing that prints the request', async () => {
    const { json } = await server.call('GET', '/key', { key: 'key_of_the_caller' });
    const [revealed, ...printed] = json.got;
    assert.equal(revealed, 'key_of_the_caller');
    for (const text of printed) assert.doesNotMatch(text, /key_of_the_caller/);
  });

  it('403 is audited with the parameter that names the entity', async () => {
    assert.equal((await server.call('GET', '/denied/some%20id')).status, 403);
    const [request] = audited;
    assert.deepEqual([request?.isDenied, request?.params, request?.principal], [true, { id: 'some id' }, CALLER]);
  });

  it('is all in the API document, which a foreign validator accepts', async () => {
    const document = JSON.parse(JSON.stringify(buildOpenApi({ version: '0', routes: ROUTES })));
    assert.deepEqual((await new Validator().validate(structuredClone(document))).errors ?? [], []);
    const operation = (path: string, method: string) => document.paths[path][method];
    assert.deepEqual(operation('/optional', 'post').requestBody.required, false);
    assert.ok(operation('/optional', 'post').responses['201'].headers.Location);
    assert.equal(operation('/any', 'post').requestBody.required, true);
    assert.equal(operation('/empty', 'post').responses['200'].content, undefined);
    const names = (path: string, method: string) =>
      operation(path, method).parameters.map((parameter: { name: string }) => parameter.name);
    assert.deepEqual(names('/things/{id}', 'patch'), ['id', 'SVC-IDEMPOTENCY-KEY']);
    assert.deepEqual(names('/things/{id}', 'get'), ['id']);
  });

  it('caused no fault of ours', () => assert.deepEqual(server.faults, []));
});
