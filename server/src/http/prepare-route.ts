import fastJson from 'fast-json-stringify';
import type { Authenticate } from '../access/authenticate.js';
import { authorize } from '../access/authorize.js';
import type { Principal } from '../access/principal.js';
import type { Act } from '../audit/entry.js';
import type { Clock } from '../kernel/clock.js';
import { AppError } from '../kernel/errors.js';
import { readJsonBody } from './body.js';
import type { BodyWaits } from './body-waits.js';
import type { RequestContext } from './context.js';
import { createInputReader } from './read-input.js';
import type { Exchange, Responder } from './respond.js';
import type { RouteRecord } from './route.js';
import { Rendered } from './route.js';

export interface PrepareOptions {
  readonly clock: Clock;
  readonly authenticate: Authenticate;
  /** Writes the entries of full auditing; resolves once they are durable. Undefined when auditing is standard. */
  readonly auditRequest: AuditRequest | undefined;
  readonly bodies: BodyWaits;
  readonly onUnauthenticated: (context: RequestContext, error: AppError) => void;
}

export type AuditRequest = (
  principal: Principal,
  act: Act,
  route: RouteRecord,
  isDenied: boolean,
  params?: Readonly<Record<string, string>>,
) => Promise<void>;

/** Runs a request through its route. Resolves, or returns, once it is answered. */
export type RouteRunner = (
  exchange: Exchange,
  rawQuery: string,
  params?: Readonly<Record<string, string>>,
) => void | Promise<void>;

const PARAMS = new WeakMap<Exchange, Readonly<Record<string, string>>>();

/** Public routes have nobody behind them; their handlers do not look. */
const NOBODY: Principal = {
  tenantId: '',
  applicationId: '',
  applicationType: 'public',
  actor: { type: 'application', id: '' },
  permissions: new Set(),
  grants: [],
};

/**
 * Makes a route record runnable. Rights come before any byte of the body is read. What can be answered at once is
 * answered without a promise: on the busiest routes that is a tenth of the time.
 */
export function prepareRoute(route: RouteRecord, options: PrepareOptions, respond: Responder): RouteRunner {
  const read = createInputReader({
    ...(route.query && { query: route.query }),
    ...(route.body && { body: route.body }),
  });
  // The serialiser is built from the response schema: a field that is not declared there has no way out.
  const serialise = route.response ? fastJson(route.response) : undefined;
  const name = `${route.method} ${route.path}`;

  function answer(exchange: Exchange, value: unknown): void {
    if (value instanceof Rendered) respond.json(exchange, route.status, value.json);
    else if (serialise) respond.json(exchange, route.status, serialise(value));
    else respond.empty(exchange, route.status, []);
  }

  function handle(exchange: Exchange, rawQuery: string, body: unknown): void | Promise<void> {
    const { context } = exchange;
    const principal = context.principal ?? NOBODY;
    const query = route.query ? read.query(rawQuery) : {};
    const act = actOf(context, options.clock);
    const result = route.handle({ principal, act, query, body, params: PARAMS.get(exchange) ?? {} });
    if (options.auditRequest && route.audit?.onRead) {
      return auditThenAnswer(options.auditRequest, exchange, principal, act, result);
    }
    if (result instanceof Promise) return result.then((value) => answer(exchange, value));
    answer(exchange, result);
  }

  async function auditThenAnswer(
    audit: AuditRequest,
    exchange: Exchange,
    principal: Principal,
    act: Act,
    result: unknown,
  ): Promise<void> {
    const value = await result;
    await audit(principal, act, route, false, PARAMS.get(exchange));
    answer(exchange, value);
  }

  async function readThenHandle(exchange: Exchange, rawQuery: string): Promise<void> {
    const { request, response, context } = exchange;
    const body = await options.bodies.during(context.limitKey, () => readJsonBody(request, response));
    await handle(exchange, rawQuery, read.body(body ?? (route.optionalBody ? {} : undefined)));
  }

  function admit(exchange: Exchange, rawQuery: string, principal: Principal): void | Promise<void> {
    const { context } = exchange;
    context.principal = principal;
    try {
      authorize(principal, route.permission);
    } catch (denied) {
      if (!options.auditRequest || !route.audit) throw denied;
      return options
        .auditRequest(principal, actOf(context, options.clock), route, true, PARAMS.get(exchange))
        .then(() => {
          throw denied;
        });
    }
    return enter(exchange, rawQuery);
  }

  function enter(exchange: Exchange, rawQuery: string): void | Promise<void> {
    return route.body ? readThenHandle(exchange, rawQuery) : handle(exchange, rawQuery, undefined);
  }

  function identify(exchange: Exchange): Principal | Promise<Principal> {
    const refuse = (error: unknown): never => {
      if (error instanceof AppError && error.status === 401) options.onUnauthenticated(exchange.context, error);
      throw error;
    };
    try {
      const found = options.authenticate(exchange.context.headers.apiKey);
      return found instanceof Promise ? found.catch(refuse) : found;
    } catch (error) {
      return refuse(error);
    }
  }

  return (exchange, rawQuery, params) => {
    if (params) PARAMS.set(exchange, params);
    exchange.context.route = name;
    if (route.permission === 'public') return enter(exchange, rawQuery);
    const principal = identify(exchange);
    if (principal instanceof Promise) return principal.then((known) => admit(exchange, rawQuery, known));
    return admit(exchange, rawQuery, principal);
  };
}

function actOf({ principal, sourceAddress, traceId }: RequestContext, clock: Clock): Act {
  return {
    actor: principal?.actor,
    atMs: clock.nowMs(),
    sourceAddress,
    traceId,
  };
}
