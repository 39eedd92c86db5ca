import { fillIn } from '../../http/openapi/examples.js';
import type { DocumentObject } from './document.js';

/** A request of the document as it stands there: its example, with what an earlier answer filled in. */
export interface LinkedRequest {
  readonly operationId: string;
  readonly method: string;
  /** With parameters: `/tokens/{id}`. */
  readonly path: string;
  readonly applicationTypes: readonly string[];
  readonly status: number;
  readonly body: unknown;
  readonly params: Readonly<Record<string, string>>;
  readonly links: Readonly<Record<string, Link>>;
  /** Nobody has to fill in anything any more. */
  readonly isComplete: boolean;
}

export interface Link {
  readonly operationId: string;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly 'x-request-body'?: unknown;
}

interface Operation {
  readonly operationId: string;
  readonly 'x-application-types': readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly responses: Readonly<Record<string, { readonly links?: Readonly<Record<string, Link>> }>>;
}

/** Every request of the document before anything was answered. One that takes its body from an answer is not complete. */
export function requestsOf(document: DocumentObject): LinkedRequest[] {
  const paths = document.paths as Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  const requests = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => requestOf(method.toUpperCase(), path, operation)),
  );
  const awaited = requests.flatMap(({ links }) => Object.values(links)).filter((link) => link['x-request-body']);
  const isAwaited = (id: string): boolean => awaited.some(({ operationId }) => operationId === id);
  return requests.map((request) => ({ ...request, isComplete: request.isComplete && !isAwaited(request.operationId) }));
}

function requestOf(method: string, path: string, operation: Operation): LinkedRequest {
  const [status = '', { links = {} } = {}] =
    Object.entries(operation.responses).find(([each]) => Number(each) < 300) ?? [];
  return {
    operationId: operation.operationId,
    method,
    path,
    applicationTypes: operation['x-application-types'],
    status: Number(status),
    body: operation.requestBody?.content['application/json']?.example,
    params: {},
    links,
    isComplete: !operation.parameters.some((parameter) => parameter.in === 'path'),
  };
}

/** The request with what the answer of an earlier one has for it. */
export function followed(link: Link, next: LinkedRequest, earlier: LinkedRequest, answer: unknown): LinkedRequest {
  const valueAt = (expression: string): string => {
    if (!expression.startsWith('$')) return expression;
    const [, param] = /^\$request\.path\.(.+)$/.exec(expression) ?? [];
    const value = param === undefined ? memberAt(answer, expression.split('#/')[1] ?? '') : earlier.params[param];
    if (typeof value !== 'string') throw new Error(`${earlier.operationId} has no text at ${expression}`);
    return value;
  };
  const params = Object.entries(link.parameters ?? {}).map(
    ([name, expression]) => [name, valueAt(expression)] as const,
  );
  return {
    ...next,
    params: Object.fromEntries(params),
    ...(link['x-request-body'] !== undefined && { body: fillIn(link['x-request-body'], valueAt) }),
    isComplete: true,
  };
}

function memberAt(value: unknown, pointer: string): unknown {
  return pointer.split('/').reduce<unknown>((owner, name) => (owner as DocumentObject | undefined)?.[name], value); // JSON, read as unknown.
}
