/**
 * The script of the API page, which runs in the browser. It starts the viewer, and fills in what earlier answers have for other
 * requests, by the links of the document: every request can be sent as it stands. Nothing links to a deletion, and one that
 * needs no id asks first.
 */
export const DOCS_START = `'use strict';
const KEY_HEADER = 'SVC-API-KEY';
const TYPE_OF_KEY = { key_pub: 'public', key_pvt: 'private', key_mgt: 'management' };

/** Every operation of the document: { path, method, operation }. */
function operationsIn(system) {
  const { paths = {} } = system.specSelectors.specJson().toJS();
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })));
}

function linksOf({ operation }) {
  return Object.values(operation.responses).flatMap(({ links = {} }) => Object.values(links));
}

/** The values of the path's parameters in the address that was called. */
function paramsIn(path, address) {
  const names = [...path.matchAll(/{(\\w+)}/g)].map(([, name]) => name);
  const pattern = new RegExp(path.replace(/{\\w+}/g, '([^/]+)') + '$');
  const [, ...values] = pattern.exec(new URL(address, location.href).pathname) ?? [];
  return Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(values[at] ?? '')]));
}

/** What a runtime expression of OpenAPI stands for: $response.body#/id or $request.path.id. */
function valueAt(expression, answer, params) {
  if (!expression.startsWith('$')) return expression;
  const [source, pointer] = expression.split('#/');
  if (pointer === undefined) return params[source.replace('$request.path.', '')];
  return pointer.split('/').reduce((owner, name) => owner?.[name], answer);
}

function filled(body, at) {
  if (typeof body === 'string') return body.replace(/{([$]response[.]body#[^}]*)}/g, (_, expression) => at(expression));
  if (Array.isArray(body)) return body.map((member) => filled(member, at));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([name, member]) => [name, filled(member, at)]));
}

/** Hands on what an answer has for the requests its operation links to. */
function handOn(system, path, method, answer, address) {
  const all = operationsIn(system);
  const source = all.find((one) => one.path === path && one.method === method);
  if (!source) return;
  const params = paramsIn(path, address);
  const at = (expression) => valueAt(expression, answer, params);
  for (const { operationId, parameters = {}, 'x-request-body': body } of linksOf(source)) {
    const next = all.find(({ operation }) => operation.operationId === operationId);
    const place = [next.path, next.method];
    for (const [name, expression] of Object.entries(parameters)) {
      system.specActions.changeParam(place, name, 'path', at(expression), false);
    }
    if (body !== undefined) setBody(system, place, JSON.stringify(filled(body, at), null, 2));
  }
}

/** Bodies that were filled in, by operation. They take the place of the example in the document, also when one resets it. */
const bodies = new Map();

function setBody(system, pathMethod, value) {
  bodies.set(pathMethod.join(' '), value);
  system.oas3Actions.setRequestBodyValue({ value, pathMethod });
}

/** A body that repeats what is there, such as that of PUT /tenants/self, is read with the key as soon as there is one. */
async function readAhead(system, key) {
  const type = TYPE_OF_KEY[key.slice(0, 7)];
  const all = operationsIn(system);
  for (const source of all.filter(({ method, path }) => method === 'get' && !path.includes('{'))) {
    const bodies = linksOf(source).filter((link) => link['x-request-body'] !== undefined);
    if (bodies.length === 0 || !source.operation['x-application-types'].includes(type)) continue;
    for (const { operationId } of bodies) {
      const { path, method } = all.find(({ operation }) => operation.operationId === operationId);
      setBody(system, [path, method], '{}');
    }
    const answer = await fetch(source.path, { headers: { [KEY_HEADER]: key } });
    if (answer.ok) handOn(system, source.path, source.method, await answer.json(), answer.url);
  }
}

const fillIn = () => ({
  statePlugins: {
    spec: {
      wrapActions: {
        setResponse: (original, system) => (path, method, response) => {
          const result = original(path, method, response);
          if (response.ok) handOn(system, path, method, response.obj, response.url);
          return result;
        },
        execute: (original) => (request) => {
          const isBare = request.method === 'delete' && !request.path.includes('{');
          if (isBare && !window.confirm('Delete for good? There is no way back.')) return undefined;
          return original(request);
        },
      },
    },
    oas3: {
      wrapActions: {
        setRequestBodyValue: (original, system) => ({ value, pathMethod }) => {
          const isExample = !value || value === system.oas3Selectors.selectDefaultRequestBodyValue(...pathMethod);
          return original({ value: isExample ? (bodies.get(pathMethod.join(' ')) ?? value) : value, pathMethod });
        },
      },
    },
    auth: {
      wrapActions: {
        authorize: (original, system) => (credentials) => {
          const result = original(credentials);
          for (const { value } of Object.values(credentials)) {
            if (typeof value === 'string') readAhead(system, value);
          }
          return result;
        },
      },
    },
  },
});

window.ui = SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#swagger-ui', deepLinking: true, validatorUrl: null, tryItOutEnabled: true,
  plugins: [fillIn],
});
`;
