import { assert } from '../../kernel/assert.js';
import type { RouteExample, RouteRecord } from '../routes/route.js';
import type { SchemaObject } from './publish.js';

const EXPRESSION = /\{(\$response\.body#[^}]*)\}/g;

/** The name of an operation, for programs. */
export function operationIdOf({ method, path }: Pick<RouteRecord, 'method' | 'path'>): string {
  return `${method.toLowerCase()}${path.replace(/[^a-z0-9]+/gi, '_')}`.replace(/_$/, '');
}

/** As the document names paths: `/tokens/{id}`. */
export function documentPath(path: string): string {
  return path.replace(/:([a-z_]+)/g, '{$1}');
}

/** The whole body an operation is tried with, as it stands in the document: without an earlier answer, with its samples. */
export function exampleBodyOf({ body, samples = {} }: RouteExample): unknown {
  return fillIn(body, (expression) => {
    const sample = samples[expression];
    assert(sample !== undefined, `the example has a sample for ${expression}`);
    return sample;
  });
}

/** Puts values in place of the runtime expressions in the strings of a body, such as `{$response.body#/id}`. */
export function fillIn(body: unknown, valueAt: (expression: string) => string): unknown {
  if (typeof body === 'string') return body.replace(EXPRESSION, (_, expression: string) => valueAt(expression));
  if (Array.isArray(body)) return body.map((member) => fillIn(member, valueAt));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).map(([name, member]) => [name, fillIn(member, valueAt)]));
}

/** The operations that can go on with what this one answered: their ids and their bodies, by runtime expressions. */
export function linksOf(route: RouteRecord, routes: readonly RouteRecord[]): SchemaObject {
  const name = `${route.method} ${documentPath(route.path)}`;
  const links = routes
    .filter(({ example }) => example?.after === name)
    .map((next) => [operationIdOf(next), linkTo(next)] as const);
  return Object.fromEntries(links);
}

function linkTo(route: RouteRecord): SchemaObject {
  const { params, body, samples } = route.example ?? {};
  return {
    operationId: operationIdOf(route),
    ...(params && { parameters: params }),
    // Not as `requestBody`: OpenAPI takes any value there, the Java tools (openapi-generator among them) only text.
    ...(samples && { 'x-request-body': body }),
  };
}
