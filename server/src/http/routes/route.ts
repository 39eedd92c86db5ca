import type { Static, TSchema } from 'typebox';
import type { Requirement, RequirementOf } from '../../access/authorize.js';
import type { Admits, Principal, PrincipalOf } from '../../access/principal.js';
import type { EntityType } from '../../audit/entity-types.js';
import type { AuditContext } from '../../audit/entry.js';
import type { LogEvent } from '../../audit/events.js';
import type { ErrorCode, FieldErrors } from '../../kernel/errors.js';
import type { Secret } from '../../kernel/secret.js';
import type { LimitName } from '../../limits/catalogue.js';
import { JsonText } from '../transport/json-text.js';
import type { PortalDoor, PortalVisit } from '../transport/portal-visit.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Values of the path's parameters by name, percent-decoded. */
export type Params = Readonly<Record<string, string>>;

/** What records of every kind say. One that leaves out who may enter, or what it asks for, does not compile. */
export interface RouteCommon {
  /** Names of one segment begin with a colon. A stream or a page may end in `/*`: whatever comes behind, or nothing. */
  readonly path: string;
  readonly permission: Requirement;
  /** The kinds of principals that may enter, and so which credentials are looked at. A public route admits anyone. */
  readonly admits: Admits;
  /** A user has to have proved who it is not long ago. */
  readonly stepUp?: true;
  /** The rate limits it counts in besides `global` and those of its area. */
  readonly limits: readonly LimitName[];
  /** What a request counts in whose method the path does not take. */
  readonly limitsOfRefused?: Readonly<Partial<Record<Method, readonly LimitName[]>>>;
}

/** What a handler gets: input already read and checked, and who asks. */
export interface RouteRequest<Query, Body, Filters, Caller = Principal | undefined> {
  /** Undefined exactly where the route admits anyone. */
  readonly principal: Caller;
  readonly auditContext: AuditContext;
  readonly params: Params;
  readonly query: Query;
  /** What the record's `readQuery` made of the query string. */
  readonly filters: Filters;
  readonly body: Body;
  /** The credential the request came with; empty on a public route. */
  readonly apiKey: Secret<string>;
  /** Who visits the Portal. Undefined on every other route. */
  readonly visit: PortalVisit | undefined;
}

/** What full auditing writes for a route. */
export interface RouteAudit {
  /**
   * `tenant`: the id of the caller's tenant. `application`: that of the key's Application. `*`: the route names no entity.
   * `param`: the path parameter that does; where ids are any text, upper and lower case are told apart.
   */
  readonly entityId: 'tenant' | 'application' | '*' | { readonly param: string; readonly isText?: true };
  /** Where entities of one route have types of their own: that of the one named; undefined where there is none. */
  readonly entityTypeOf?: (tenantId: string, entityId: string, nowMs: number) => Promise<EntityType | undefined>;
  /** Written for a successful read; a change writes its own entry. */
  readonly onRead?: LogEvent;
  readonly onDenied: LogEvent;
}

/** Reads parameters whose names no schema can list. What it finds wrong it adds to `errors`. */
export type ReadQuery<Filters> = (parameters: ReadonlyMap<string, readonly string[]>, errors: FieldErrors) => Filters;

/** What the API document says of input that a handler reads by itself. */
export interface RouteDescription {
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** Schemas that refer to themselves, by their names in the document. */
  readonly components?: Readonly<Record<string, TSchema>>;
  /** What is checked and no schema can say, by name: a sentence each. */
  readonly rules?: Readonly<Record<string, string>>;
}

/**
 * A request that succeeds as it stands and changes nothing dear. Where it takes an id or a nonce of an earlier answer it names
 * the call, and the place in its answer by a runtime expression of OpenAPI: `$response.body#/id`.
 */
export interface RouteExample {
  /** The whole body. Expressions stand inside its strings, in braces: `{$response.body#/nonce}`. */
  readonly body?: unknown;
  /** What the document shows in place of each expression in the body. */
  readonly samples?: Readonly<Record<string, string>>;
  /** The earlier call, as the document names it: `POST /applications`. */
  readonly after?: string;
  /** Parameters of the path by expression, or as they are. A DELETE has none: nothing is deleted by sending a page as it stands. */
  readonly params?: Readonly<Record<string, string>>;
}

/** A success of another status than the usual one of a route, with another body or none. */
export interface OtherSuccessRecord {
  readonly status: 200 | 201 | 202 | 204;
  readonly response?: TSchema;
  /** When it is given, for the API document. */
  readonly description: string;
}

/**
 * A route of the kind `json` as data: a body of JSON in, one out. Its check of input, its place in the API document, its rights
 * and its limits all come from here.
 */
export interface RouteRecord extends RouteCommon {
  readonly kind: 'json';
  readonly method: Method;
  /** A call of the Portal's own pages: for everybody there, or for who is signed in, or for who just proved who it is. */
  readonly portal?: PortalDoor;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly query?: TSchema;
  readonly readQuery?: ReadQuery<unknown>;
  readonly body?: TSchema;
  /** No body at all is taken for `{}`. */
  readonly optionalBody?: true;
  /** The body is whatever JSON the client keeps with us; there is no schema. */
  readonly anyBody?: true;
  /** For the API document alone: what a handler that reads its input itself takes. */
  readonly describes?: RouteDescription;
  /** For the API document, its page and the tests. Every route that reads a body has one. */
  readonly example?: RouteExample;
  /** 1 MiB without it. */
  readonly bodyBytesMax?: number;
  /** How many values a JSON body may have; 10,000 without it. */
  readonly bodyValuesMax?: number;
  readonly status: 200 | 201 | 202 | 204;
  /** Fields not declared here never leave. Absent exactly when the answer has no body. */
  readonly response?: TSchema;
  /** How it answers a handler that returns `OtherSuccess`. */
  readonly otherSuccess?: OtherSuccessRecord;
  /** A POST that changes nothing: an idempotency key on it is ignored. */
  readonly changesNothing?: true;
  /** The handler gives the very same, unchanging object as long as nothing changed: it is then written out once. */
  readonly isRemembered?: true;
  /** The address of what was made: a path whose segments are percent-encoded already. */
  readonly location?: (value: unknown) => string;
  /** Top-level fields of the answer that show a credential: a replay opens them for the same credential alone. */
  readonly secretFields?: readonly string[];
  /** Failures of this route besides those every route of its kind has. */
  readonly failures?: readonly ErrorCode[];
  readonly audit?: RouteAudit;
  readonly handle: (request: RouteRequest<unknown, unknown, unknown>) => unknown;
}

type TypedRoute<Q extends TSchema, B extends TSchema, R extends TSchema, F, A extends Admits> = Omit<
  RouteRecord,
  'kind' | 'permission' | 'admits' | 'query' | 'readQuery' | 'body' | 'response' | 'location' | 'handle'
> & {
  readonly permission: RequirementOf<A>;
  readonly admits: A;
  readonly query?: Q;
  readonly readQuery?: ReadQuery<F>;
  readonly body?: B;
  readonly response?: R;
  readonly location?: (value: Static<R>) => string;
  readonly handle: (request: RouteRequest<Static<Q>, Static<B>, F, PrincipalOf<A>>) => unknown;
};

export function defineRoute<
  Q extends TSchema,
  B extends TSchema,
  R extends TSchema,
  F = undefined,
  const A extends Admits = Admits,
>(route: TypedRoute<Q, B, R, F, A>): RouteRecord {
  // Input reaches the handler only after it passed the record's own schemas, so it has the types they describe; so does a
  // principal only if the record admits its kind; and what a location is asked of is the handler's own answer.
  return { ...route, kind: 'json' } as unknown as RouteRecord;
}

/** Does the route read a body at all? */
export function takesBody(route: RouteRecord): boolean {
  return route.body !== undefined || route.anyBody === true;
}

/** Does the route answer a repeated request under an idempotency key with its first answer? */
export function keepsAnswer({ method, admits, changesNothing }: RouteRecord): boolean {
  return admits !== 'anyone' && !changesNothing && (method === 'POST' || method === 'PUT' || method === 'PATCH');
}

/** What a handler returns, and keeps under an idempotency key, to answer by the record's `otherSuccess`. */
export class OtherSuccess {
  /** Its body; undefined where it has none. */
  readonly value: unknown;

  constructor(value?: unknown) {
    this.value = value;
  }
}

/** What a handler of the Portal returns to send the browser to one of its pages, with cookies. */
export class ToPage {
  readonly path: string;
  readonly cookies: readonly string[];

  /** Never made of what a request says. */
  constructor(path: `/portal/${string}`, ...cookies: readonly string[]) {
    this.path = path;
    this.cookies = cookies;
  }
}

/** What a handler of the Portal returns to set cookies, or to take them away. */
export class WithCookie {
  readonly value: unknown;
  readonly cookies: readonly string[];

  constructor(value: unknown, ...cookies: readonly string[]) {
    this.value = value;
    this.cookies = cookies;
  }
}

/** An answer that was serialised beforehand, for documents that never change. */
export class Rendered {
  readonly json: JsonText;

  constructor(value: unknown) {
    this.json = new JsonText(JSON.stringify(value));
  }
}
