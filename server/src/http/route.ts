import type { Static, TSchema } from 'typebox';
import type { Requirement } from '../access/authorize.js';
import type { Principal } from '../access/principal.js';
import type { Act } from '../audit/entry.js';
import type { EventName } from '../audit/events.js';
import type { ErrorCode } from '../kernel/errors.js';
import type { LimitName } from '../limits/catalogue.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What a handler gets: input already read and checked, and who asks. */
export interface RouteRequest<Query, Body> {
  readonly principal: Principal;
  readonly act: Act;
  readonly query: Query;
  readonly body: Body;
  readonly params: Readonly<Record<string, string>>;
}

/** What full auditing writes for a route. */
export interface RouteAudit {
  /** `tenant`: the id of the caller's tenant. `*`: the route names no entity. */
  readonly entityId: 'tenant' | '*' | { readonly param: string };
  /** Written for a successful read; a change writes its own entry. */
  readonly onRead?: EventName;
  readonly onDenied: EventName;
}

/**
 * A route as data. Its check of input, its place in the API document, its rights and its limits all come from here; one
 * without a permission does not compile.
 */
export interface RouteRecord {
  readonly method: Method;
  readonly path: string;
  readonly permission: Requirement;
  /** The rate limits it counts in besides `global`. */
  readonly limits: readonly LimitName[];
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly optionalBody?: true;
  readonly location?: (body: unknown) => string;
  readonly secretFields?: readonly string[];
  readonly status: 200 | 201 | 204;
  /** Fields not declared here never leave. Absent exactly when the answer has no body. */
  readonly response?: TSchema;
  /** Failures of this route besides those every route of its kind has. */
  readonly failures?: readonly ErrorCode[];
  readonly audit?: RouteAudit;
  readonly handle: (request: RouteRequest<unknown, unknown>) => unknown;
}

type TypedRoute<Q extends TSchema, B extends TSchema> = Omit<RouteRecord, 'query' | 'body' | 'handle'> & {
  readonly query?: Q;
  readonly body?: B;
  readonly handle: (request: RouteRequest<Static<Q>, Static<B>>) => unknown;
};

export function defineRoute<Q extends TSchema, B extends TSchema>(route: TypedRoute<Q, B>): RouteRecord {
  // Input reaches the handler only after it passed the record's own schemas, so it has the types they describe.
  return route as RouteRecord;
}

/** An answer that was serialised beforehand, for documents that never change. */
export class Rendered {
  readonly json: Buffer;

  constructor(value: unknown) {
    this.json = Buffer.from(JSON.stringify(value));
  }
}
