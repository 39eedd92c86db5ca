import { authorize } from '../../access/authorize.js';
import { paceLarge } from '../../kernel/large-work.js';
import type { ReceivedBody } from '../transport/body.js';
import { parseBody } from '../transport/body.js';
import { PiecewiseList } from '../transport/piecewise.js';
import type { Exchange, Responder } from '../transport/respond.js';
import type { Admit } from './admit.js';
import { withDenialsAudited } from './admit.js';
import type { Answerer } from './answer.js';
import { createAnswerer } from './answer.js';
import type { Identify } from './identify.js';
import { askingAgain, createIdentify } from './identify.js';
import { Incoming } from './incoming.js';
import { createReceiveBody } from './json-body.js';
import type { KeptTurn } from './json-once.js';
import { createRunKeyed } from './json-once.js';
import { admitToPortal } from './portal-door.js';
import type { QueryInput } from './read-input.js';
import { createInputReader } from './read-input.js';
import type { Params, RouteRecord } from './route.js';
import { keepsAnswer, takesBody } from './route.js';
import type { RouteRunner, RunnerOptions } from './runner.js';

type Handle = (
  exchange: Exchange,
  rawQuery: string,
  params: Params,
  body: unknown,
  turn: KeptTurn | undefined,
) => void | Promise<void>;

const NO_QUERY: QueryInput = { query: {}, filters: undefined };

/**
 * Makes a route of the kind `json` runnable. Rights come before any byte of the body is read. What can be answered at once is
 * answered without a promise: on the busiest routes that is a tenth of the time.
 */
export function jsonRunner(route: RouteRecord, options: RunnerOptions, respond: Responder): RouteRunner {
  const name = `${route.method} ${route.path}`;
  const identify = createIdentify(route.admits, options);
  const admit = withDenialsAudited(route, options, createAdmit(route, options, respond, identify));

  async function visitPortal(exchange: Exchange, rawQuery: string, params: Params): Promise<void> {
    const { portal = 'signed in' } = route;
    exchange.context.visit = await admitToPortal(options, portal, exchange);
    await admit(exchange, rawQuery, params, undefined);
  }

  return (exchange, rawQuery, params) => {
    exchange.context.route = name;
    if (route.portal !== undefined) return visitPortal(exchange, rawQuery, params);
    if (route.admits === 'anyone') return admit(exchange, rawQuery, params, undefined);
    const principal = identify(exchange);
    if (principal instanceof Promise) return principal.then((known) => admit(exchange, rawQuery, params, known));
    return admit(exchange, rawQuery, params, principal);
  };
}

/** From who asks to the handler: the rights, then an earlier answer under an idempotency key, or the body. */
function createAdmit(route: RouteRecord, options: RunnerOptions, respond: Responder, identify: Identify): Admit {
  const answerer = createAnswerer(route, respond);
  const read = createInputReader(route);
  const receive = createReceiveBody(route, options, identify);
  const runKeyed = createRunKeyed(route, options, answerer, receive);
  const handle = createHandle(route, options, answerer, identify, read.query);
  const { largeWork } = options;
  const readsBody = takesBody(route);
  const isKeeping = keepsAnswer(route);

  async function readThenHandle(
    exchange: Exchange,
    rawQuery: string,
    params: Params,
    turn?: KeptTurn,
    received?: ReceivedBody,
  ): Promise<void> {
    const { request, context } = exchange;
    const sent = received ?? (await receive(exchange));
    const tenantId = context.principal?.tenantId ?? '';
    const body = await paceLarge(largeWork, tenantId, context, () => read.body(parseBody(request, sent)));
    await handle(exchange, rawQuery, params, body, turn);
  }

  return (exchange, rawQuery, params, principal) => {
    if (principal !== undefined) {
      exchange.context.principal = principal;
      authorize(principal, route);
      const key = isKeeping ? exchange.context.headers.idempotencyKey : undefined;
      if (key !== undefined) {
        return runKeyed(exchange, principal, key, (turn, received) =>
          readsBody
            ? readThenHandle(exchange, rawQuery, params, turn, received)
            : handle(exchange, rawQuery, params, undefined, turn),
        );
      }
    }
    return readsBody
      ? readThenHandle(exchange, rawQuery, params)
      : handle(exchange, rawQuery, params, undefined, undefined);
  };
}

/** From the handler to the answer. */
function createHandle(
  route: RouteRecord,
  { clock, auditRequest, largeWork }: RunnerOptions,
  answerer: Answerer,
  identify: Identify,
  readQuery: (raw: string) => QueryInput,
): Handle {
  const readsQuery = route.query !== undefined || route.readQuery !== undefined;

  function answer(exchange: Exchange, value: unknown, turn: KeptTurn | undefined): void | Promise<void> {
    // The first answer goes out as it was stored, so that a replay cannot differ from it.
    if (turn?.kept) return answerer.replay(exchange, turn.kept);
    const { principal } = exchange.context;
    if (value instanceof PiecewiseList && principal) {
      exchange.context.isStillAllowed = askingAgain(identify, exchange, principal);
    }
    // A list in pieces takes turns by itself; any other answer is written at once.
    if (exchange.context.held === undefined || value instanceof PiecewiseList) return answerer.send(exchange, value);
    return largeWork.paced.run(principal?.tenantId ?? '', () => void answerer.send(exchange, value));
  }

  return (exchange, rawQuery, params, body, turn) => {
    const { context } = exchange;
    const { query, filters } = readsQuery ? readQuery(rawQuery) : NO_QUERY;
    const incoming = new Incoming(context, clock, params, query, filters, body, turn?.keepAnswer);
    const result = route.handle(incoming);
    const { principal } = context;
    if (auditRequest && route.audit?.onRead && principal) {
      const audited = { route, params, principal, auditContext: incoming.auditContext, isDenied: false };
      return Promise.resolve(result).then(async (value) => {
        await auditRequest(audited);
        await answer(exchange, value, turn);
      });
    }
    if (result instanceof Promise) return result.then((value) => answer(exchange, value, turn));
    return answer(exchange, result, turn);
  };
}
