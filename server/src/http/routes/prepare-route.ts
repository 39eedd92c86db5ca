import { isDeepStrictEqual } from 'node:util';
import type { Authenticate } from '../../access/authenticate.js';
import { authorize } from '../../access/authorize.js';
import { grantsDigest } from '../../access/grants.js';
import type { Principal } from '../../access/principal.js';
import type { Act } from '../../audit/entry.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import type { LargeWork } from '../../kernel/large-work.js';
import { Secret } from '../../kernel/secret.js';
import type { Keep, KeyedRequest, RunOnce } from '../idempotency/idempotency.js';
import { BODY_BYTES_MAX, parseBody, readBody } from '../transport/body.js';
import { shareFor } from '../transport/body-share.js';
import type { BodyWaits } from '../transport/body-waits.js';
import type { RequestContext, Turn } from '../transport/context.js';
import { PiecewiseList } from '../transport/piecewise.js';
import type { Exchange, Responder } from '../transport/respond.js';
import { createAnswerer } from './answer.js';
import { actOf, Incoming } from './incoming.js';
import type { QueryInput } from './read-input.js';
import { createInputReader } from './read-input.js';
import type { Params, RouteRecord } from './route.js';
import { keepsAnswer, takesBody } from './route.js';

export interface PrepareOptions {
  readonly clock: Clock;
  readonly authenticate: Authenticate;
  /** Writes the entries of full auditing; resolves once they are durable. Undefined when auditing is standard. */
  readonly auditRequest: AuditRequest | undefined;
  readonly bodies: BodyWaits;
  readonly largeWork: Pick<LargeWork, 'bytes'>;
  readonly runOnce: RunOnce;
  readonly onUnauthenticated: (context: RequestContext, error: AppError) => void;
  /** Told of every failure that is ours, with its inside story. */
  readonly onFault: (error: unknown, traceId: string) => void;
}

/** Something full auditing has an entry for. */
export interface AuditedRequest {
  readonly route: RouteRecord;
  readonly params: Params;
  readonly principal: Principal;
  readonly act: Act;
  readonly isDenied: boolean;
}

export type AuditRequest = (request: AuditedRequest) => Promise<void>;

/** Runs a request through its route. Resolves, or returns, once it is answered. */
export type RouteRunner = (exchange: Exchange, rawQuery: string, params: Params) => void | Promise<void>;

/** Public routes have nobody behind them; their handlers do not look. */
const NOBODY: Principal = {
  tenantId: '',
  applicationId: '',
  applicationType: 'public',
  actor: { type: 'application', id: '' },
  permissions: new Set(),
  grants: [],
};

const NO_BODY = Buffer.alloc(0);
const NO_QUERY: QueryInput = { query: {}, filters: undefined };
/** Rights may be so old when a body has arrived. Of most requests it is there at once, and nothing is asked again. */
const RIGHTS_FRESH_MS = 100;

/**
 * Makes a route record runnable. Rights come before any byte of the body is read. What can be answered at once is
 * answered without a promise: on the busiest routes that is a tenth of the time.
 */
export function prepareRoute(route: RouteRecord, options: PrepareOptions, respond: Responder): RouteRunner {
  const read = createInputReader(route);
  const readsQuery = route.query !== undefined || route.readQuery !== undefined;
  const readsBody = takesBody(route);
  const bodyBytesMax = route.bodyBytesMax ?? BODY_BYTES_MAX;
  const answerer = createAnswerer(route, respond);
  const name = `${route.method} ${route.path}`;
  const isKeeping = keepsAnswer(route);
  const isAboutTokens = route.permission.startsWith('token:');

  function answer(exchange: Exchange, value: unknown): void | Promise<void> {
    const kept = exchange.context.turn?.kept;
    // The first answer goes out as it was stored, so that a replay cannot differ from it.
    if (kept) answerer.replay(exchange, kept);
    else {
      const { principal } = exchange.context;
      if (value instanceof PiecewiseList && principal) {
        exchange.context.isStillAllowed = () => isStillAllowed(exchange, principal);
      }
      return answerer.send(exchange, value);
    }
  }

  function handle(exchange: Exchange, rawQuery: string, params: Params, body: unknown): void | Promise<void> {
    const { context } = exchange;
    const principal = context.principal ?? NOBODY;
    const { query, filters } = readsQuery ? read.query(rawQuery) : NO_QUERY;
    const incoming = new Incoming(context, options.clock, principal, params, query, filters, body);
    const result = route.handle(incoming);
    if (options.auditRequest && route.audit?.onRead) {
      const audited = { route, params, principal, act: incoming.act, isDenied: false };
      return auditThenAnswer(options.auditRequest, exchange, audited, result);
    }
    if (result instanceof Promise) return result.then((value) => answer(exchange, value));
    return answer(exchange, result);
  }

  async function auditThenAnswer(
    audit: AuditRequest,
    exchange: Exchange,
    audited: AuditedRequest,
    result: unknown,
  ): Promise<void> {
    const value = await result;
    await audit(audited);
    await answer(exchange, value);
  }

  /** A body can take half a minute to come. What was taken from the caller meanwhile it does not have any more. */
  async function receive(exchange: Exchange): Promise<Buffer> {
    const { request, response, context } = exchange;
    const { bodies, largeWork, clock } = options;
    const askedMs = clock.monotonicMs();
    let held = 0;
    const count = (bytes: number): void => {
      bodies.hold(context, bytes);
      held += bytes;
    };
    let bytes: Buffer;
    try {
      bytes = await bodies.during(context, () => readBody(request, response, bodyBytesMax, count));
      const share = shareFor(largeWork.bytes, context.principal?.tenantId ?? '', request.method, bytes);
      if (share) context.held = [await share];
    } finally {
      bodies.release(context, held);
    }
    const isLate = clock.monotonicMs() - askedMs > RIGHTS_FRESH_MS;
    if (isLate && context.principal !== undefined) {
      context.principal = await identify(exchange);
      authorize(context.principal, route.permission);
    }
    return bytes;
  }

  async function readThenHandle(
    exchange: Exchange,
    rawQuery: string,
    params: Params,
    received: Buffer | undefined,
  ): Promise<void> {
    const bytes = received ?? (await receive(exchange));
    await handle(exchange, rawQuery, params, read.body(parseBody(exchange.request, bytes)));
  }

  /** The rights a key has are one object while nothing changes; where nothing is remembered, what they say is compared. */
  async function isStillAllowed(exchange: Exchange, principal: Principal): Promise<boolean> {
    try {
      const now = await identify(exchange);
      return now === principal || isDeepStrictEqual(now, principal);
    } catch (error) {
      if (error instanceof AppError && error.status === 401) return false;
      throw error;
    }
  }

  function admit(exchange: Exchange, rawQuery: string, params: Params, principal: Principal): void | Promise<void> {
    exchange.context.principal = principal;
    const { auditRequest } = options;
    if (auditRequest && route.audit) return admitAudited(auditRequest, exchange, rawQuery, params, principal);
    authorize(principal, route.permission);
    return enter(exchange, rawQuery, params);
  }

  /** Full auditing has an entry for every refusal, also by an access rule, which only the resource can know of. */
  async function admitAudited(
    auditRequest: AuditRequest,
    exchange: Exchange,
    rawQuery: string,
    params: Params,
    principal: Principal,
  ): Promise<void> {
    try {
      authorize(principal, route.permission);
      await enter(exchange, rawQuery, params);
    } catch (error) {
      if (error instanceof AppError && error.status === 403) {
        const act = actOf(exchange.context, options.clock);
        await auditRequest({ route, params, principal, act, isDenied: true });
      }
      throw error;
    }
  }

  function enter(exchange: Exchange, rawQuery: string, params: Params): void | Promise<void> {
    if (isKeeping && exchange.context.headers.idempotencyKey !== undefined) {
      return enterOnce(exchange, rawQuery, params, exchange.context.headers.idempotencyKey);
    }
    return proceed(exchange, rawQuery, params);
  }

  function proceed(exchange: Exchange, rawQuery: string, params: Params, received?: Buffer): void | Promise<void> {
    if (!readsBody) return handle(exchange, rawQuery, params, undefined);
    return readThenHandle(exchange, rawQuery, params, received);
  }

  async function enterOnce(exchange: Exchange, rawQuery: string, params: Params, key: string): Promise<void> {
    const { context, request } = exchange;
    const secretFields = route.secretFields ?? [];
    // A public key is in every browser: there the body tells one caller from another, so it comes first.
    const body = isShared(context.principal ?? NOBODY) ? await (readsBody ? receive(exchange) : NO_BODY) : undefined;
    // Where an answer shows a secret, the body may be empty for everybody; then nobody else's address gets it.
    const client = secretFields.length > 0 ? context.limitKey : '';
    const keyed: KeyedRequest = {
      principal: context.principal ?? NOBODY,
      key,
      method: route.method,
      pathname: pathnameOf(request.url ?? '/'),
      sharedBy: body && { body, client },
      credential: context.headers.apiKey === undefined ? undefined : new Secret(context.headers.apiKey),
      secretFields,
      rights: () => (isAboutTokens ? grantsDigest((context.principal ?? NOBODY).grants) : undefined),
    };
    const earlier = await options.runOnce(keyed, async (keep) => {
      const turn = turnOf(keep);
      context.turn = turn;
      await proceed(exchange, rawQuery, params, body);
      if (!turn.kept) options.onFault(new Error(`${name} did not keep its answer`), context.traceId);
    });
    if (earlier) answerer.replay(exchange, earlier);
  }

  function turnOf(keep: Keep): Turn {
    const turn: Turn = {
      kept: undefined,
      async keepAnswer(tx, value, shown = []) {
        const answered = answerer.render(value);
        await keep(tx, answered, shown);
        turn.kept = answered;
      },
    };
    return turn;
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
    exchange.context.route = name;
    if (route.permission === 'public') return enter(exchange, rawQuery, params);
    const principal = identify(exchange);
    if (principal instanceof Promise) return principal.then((known) => admit(exchange, rawQuery, params, known));
    return admit(exchange, rawQuery, params, principal);
  };
}

function isShared({ actor, applicationType }: Principal): boolean {
  return actor.type === 'application' && applicationType === 'public';
}

function pathnameOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}
