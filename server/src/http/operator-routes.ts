import Type from 'typebox';
import { buildOpenApi } from './openapi/openapi.js';
import type { RouteRecord } from './routes/route.js';
import { defineRoute, Rendered } from './routes/route.js';
import { named } from './routes/schema.js';

export interface OperatorOptions {
  readonly version: string;
  /** Rejects while storage or keys cannot be used. */
  readonly checkReady: () => Promise<void>;
  /** Whether code of tenants runs here, or why not. Its absence keeps nothing else from being served. */
  readonly reactors: () => ReactorsReadiness;
}

export interface ReactorsReadiness {
  readonly status: 'starting' | 'available' | 'unavailable';
  /** What the wall is made of. */
  readonly wall?: string;
  readonly reason?: string;
}

const Status = named('Status', { status: Type.String({ examples: ['ok'] }) });

const Readiness = named('Readiness', {
  status: Type.String({ examples: ['ready'] }),
  reactors: Type.Object(
    {
      status: Type.Enum(['starting', 'available', 'unavailable']),
      wall: Type.Optional(Type.String({ description: 'What tenant code runs behind', examples: ['user, landlock 7'] })),
      reason: Type.Optional(Type.String({ description: 'Why no tenant code runs' })),
    },
    { description: 'Whether code of tenants runs here. Everything else is served without it' },
  ),
});

/** Health and documents: no key, no tenant data. */
export function operatorRoutes(options: OperatorOptions, tenantRoutes: readonly RouteRecord[]): RouteRecord[] {
  const base = {
    method: 'GET',
    permission: 'public',
    admits: 'anyone',
    limits: [],
    tag: 'Operation',
    status: 200,
  } as const;
  let document: Rendered | undefined;
  const routes: RouteRecord[] = [
    defineRoute({
      ...base,
      path: '/healthz',
      summary: 'Is the process alive?',
      description: 'Answers 200 while the process lives.',
      response: Status,
      handle: () => ({ status: 'ok' }),
    }),
    defineRoute({
      ...base,
      path: '/readyz',
      summary: 'Can it serve?',
      description: 'Answers 200 when storage and keys are usable, else 503.',
      response: Readiness,
      handle: async () => {
        await options.checkReady();
        return { status: 'ready', reactors: options.reactors() };
      },
    }),
    defineRoute({
      ...base,
      path: '/openapi.json',
      summary: 'This document',
      description: 'The API as an OpenAPI 3.1 document.',
      response: Type.Object({}, { additionalProperties: true }),
      handle: () => {
        document ??= new Rendered(buildOpenApi({ version: options.version, routes: [...tenantRoutes, ...routes] }));
        return document;
      },
    }),
  ];
  return routes;
}
