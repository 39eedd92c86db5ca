import { authorize } from '../../access/authorize.js';
import { assert } from '../../kernel/assert.js';
import type { EndSignal } from '../../kernel/end-signal.js';
import { EndSource } from '../../kernel/end-signal.js';
import { AppError } from '../../kernel/errors.js';
import { refuseTooLong } from '../transport/body.js';
import type { RequestContext } from '../transport/context.js';
import type { PassedBytes } from '../transport/passed-bytes.js';
import type { Exchange, Responder } from '../transport/respond.js';
import { bodyPieces, shortBody } from '../transport/stream-body.js';
import { withDenialsAudited } from './admit.js';
import { askingAgain, createIdentify } from './identify.js';
import { auditContextOf } from './incoming.js';
import { admitToPortal } from './portal-door.js';
import type { Params } from './route.js';
import type { RouteRunner, RunnerOptions } from './runner.js';
import type { StreamAnswer, StreamRequest, StreamRoute } from './stream-route.js';

/** What a handler may not say: what belongs to the connection, to the server's rules for other origins, or sets cookies. */
const OWN_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'set-cookie',
  'x-content-type-options',
]);
const CROSS_ORIGIN = 'access-control-';

/** Makes a route of the kind `stream` runnable. Rights come before any byte of the body is read. */
export function streamRunner(route: StreamRoute, options: RunnerOptions, respond: Responder): RouteRunner {
  const identify = createIdentify(route.admits, options);

  async function serve(exchange: Exchange, rawQuery: string, params: Params): Promise<void> {
    const { request, response, context } = exchange;
    // Without a key it is not known yet whether the request is admitted at all.
    if (context.principal || !route.isKeyOptional) refuseTooLong(context, route.bodyBytesMax);
    const body = bodyPieces(exchange, route.bodyBytesMax, options.passed);
    options.streams.take(context);
    const life = createLife(exchange, route.durationMsMax);
    try {
      const asked = askedOf(exchange, options, { params, rawQuery, body, bodyBytesMax: route.bodyBytesMax, life });
      const answer = await life.orOver(route.handle(asked));
      if (answer === undefined) throw life.reason();
      const headers = checkedHeaders(answer);
      const { status, body: answered } = answer;
      if (Buffer.isBuffer(answered)) respond.whole(exchange, status, headers, answered);
      else await respond.stream(exchange, { status, headers, body: counting(answered, options.passed) }, life.signal);
    } catch (error) {
      throw life.giveUp(error, response.headersSent);
    } finally {
      life.end();
      options.streams.leave(context);
      // What nobody wanted of the body is thrown away, so that the client gets to read its answer.
      if (!request.complete) request.resume();
    }
  }

  const admit = withDenialsAudited(route, options, (exchange, rawQuery, params, principal) => {
    const { context } = exchange;
    if (principal) {
      context.principal = principal;
      context.isStillAllowed = askingAgain(identify, exchange, principal);
      authorize(principal, route);
    }
    return serve(exchange, rawQuery, params);
  });

  /** Without waiting where the key is known: a promise for each step would take longer than the step. */
  function enter(exchange: Exchange, rawQuery: string, params: Params): void | Promise<void> {
    const principal = isUnknown(route, exchange) ? undefined : identify(exchange);
    if (principal instanceof Promise) return principal.then((known) => admit(exchange, rawQuery, params, known));
    return admit(exchange, rawQuery, params, principal);
  }

  return (exchange, rawQuery, params) => {
    const { request, context } = exchange;
    context.route = nameOf(route, request.method);
    if (route.portal === undefined) return enter(exchange, rawQuery, params);
    return admitToPortal(options, route.portal, exchange).then((visit) => {
      context.visit = visit;
      return enter(exchange, rawQuery, params);
    });
  };
}

/** What a request brings besides its head. */
interface Brought {
  readonly bodyBytesMax: number;
  readonly params: Params;
  readonly rawQuery: string;
  readonly body: AsyncIterable<Buffer>;
  readonly life: Life;
}

/** Who is not admitted is not told how long a body may be. */
function assigning(context: RequestContext, streams: RunnerOptions['streams'], bodyBytesMax: number) {
  return (tenantId: string): void => {
    refuseTooLong(context, bodyBytesMax);
    streams.assign(context, tenantId);
  };
}

/** Written out, member by member: every call has the same shape then, which the engine is far faster with. */
function askedOf(
  exchange: Exchange,
  { clock, streams, stopping }: RunnerOptions,
  { params, rawQuery, body, bodyBytesMax, life }: Brought,
): StreamRequest {
  const { request, context } = exchange;
  return {
    params,
    rawQuery,
    body,
    signal: life.signal,
    principal: context.principal,
    auditContext: auditContextOf(context, clock),
    method: request.method ?? 'GET',
    prefix: context.headers.prefix,
    rawHeaders: request.rawHeaders,
    readShort: shortBody(exchange),
    assignTo: context.principal ? undefined : assigning(context, streams, bodyBytesMax),
    stopping,
    visit: context.visit,
  };
}

function counting(body: Exclude<StreamAnswer['body'], Buffer>, passed: PassedBytes): typeof body {
  if (typeof body !== 'function') return body;
  return ({ write, onRoom }) => {
    const writeNoted = (piece: Buffer): boolean => {
      passed.note(piece.length);
      return write(piece);
    };
    return body({ write: writeNoted, onRoom });
  };
}

function isUnknown({ admits, isKeyOptional }: StreamRoute, { context }: Exchange): boolean {
  return admits === 'anyone' || (isKeyOptional === true && context.headers.apiKey === undefined);
}

/** For log lines and metrics: what asks for the head alone counts as GET. */
function nameOf({ methods, path }: StreamRoute, method = 'GET'): string {
  const known = methods.find((each) => each === (method === 'HEAD' ? 'GET' : method));
  return known === undefined ? path : `${known} ${path}`;
}

/** How long anybody is there to read an answer. */
interface Life {
  readonly signal: EndSignal;
  /** What the promise gives, or undefined as soon as it is over. */
  orOver<T>(promise: T | Promise<T>): Promise<T | undefined>;
  /** Why it was over before there was an answer. */
  reason(): AppError;
  /** Nobody will take what is still under way. Gives what to throw: the end of a life comes before what follows from it. */
  giveUp(error: unknown, hasBegun: boolean): unknown;
  end(): void;
}

function createLife({ request }: Exchange, durationMsMax: number): Life {
  const { socket } = request;
  const ending = new EndSource();
  const end = (): void => ending.abort(undefined);
  const timer = setTimeout(end, durationMsMax);
  socket.once('close', end);
  if (socket.destroyed) end();
  const reason = (): AppError =>
    socket.destroyed
      ? new AppError('malformed_request', 'The client left before there was an answer.')
      : new AppError('request_timeout', 'The request took longer than it may. Ask for less at a time.');
  return {
    signal: ending,
    orOver<T>(promise: T | Promise<T>) {
      return new Promise<T | undefined>((resolve, reject) => {
        const leave = (): void => resolve(undefined);
        if (ending.aborted) leave();
        ending.addEventListener('abort', leave);
        if (promise instanceof Promise) promise.then(resolve, reject);
        else resolve(promise);
      });
    },
    reason,
    giveUp(error, hasBegun) {
      const failure = ending.aborted && !hasBegun ? reason() : error;
      end();
      return failure;
    },
    end() {
      clearTimeout(timer);
      socket.off('close', end);
    },
  };
}

/** A destination's headers may be handed on as they are: what must not leave is left out here. */
function checkedHeaders({ status, headers }: StreamAnswer): string[] {
  assert(Number.isInteger(status) && status >= 200 && status <= 599, 'a stream answers with a final status');
  const kept: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    const lower = name.toLowerCase();
    if (!OWN_HEADERS.has(lower) && !lower.startsWith(CROSS_ORIGIN)) kept.push(name, headers[at + 1] ?? '');
  }
  return kept;
}
