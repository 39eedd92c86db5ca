import type { AuditContext } from '../../../audit/entry.js';
import { record } from '../../../audit/record.js';
import type { StreamAnswer, StreamRequest } from '../../../http/routes/stream-route.js';
import { displayRefused, isForDisplay } from '../../../http/transport/custom-response.js';
import { assert } from '../../../kernel/assert.js';
import type { Clock } from '../../../kernel/clock.js';
import { AppError } from '../../../kernel/errors.js';
import type { Flow } from '../../../kernel/flow.js';
import type { GrowingShare } from '../../../kernel/growing-bytes.js';
import type { HeaderPairs } from '../../../outbound/message-headers.js';
import { headerValue } from '../../../outbound/message-headers.js';
import type { Outbound, OutboundAnswer } from '../../../outbound/outbound.js';
import { readPlainBody } from '../../../outbound/plain-body.js';
import type { Database } from '../../../storage/database.js';
import type { Vault } from '../../../vault/index.js';
import { PROXY_EVENTS } from '../events.js';
import type { OurPrefixes } from './answer.js';
import { headOf, passedAnswer } from './answer.js';
import type { AskedProxy } from './asked.js';
import { readAskedProxy } from './asked.js';
import type { BodyKind } from './body-kind.js';
import { bodyKindOf } from './body-kind.js';
import type { CalledProxy, CalledProxyOptions, ProxyCaller } from './called-proxy.js';
import { calledProxy } from './called-proxy.js';
import type { Counted, ProxyCalled } from './counted.js';
import { countOnce } from './counted.js';
import { destinationUrl } from './destination.js';
import { destinationFailure } from './failure.js';
import { fetchHeaders, hasBody, isText } from './message.js';
import { resolveRequest } from './resolve-request.js';
import type { Transformed, TransformOptions } from './transform.js';
import { bodyForCode, headersForCode, transform } from './transform.js';
import { createWholeBytes, readWholeBody, WHOLE_BYTES_MAX } from './whole-body.js';

export interface ProxyInvokeOptions extends CalledProxyOptions, TransformOptions {
  readonly database: Database;
  readonly vault: Pick<Vault, 'use'>;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly clock: Clock;
  /** Told of every call, for figures. */
  readonly onCalled: (called: ProxyCalled) => void;
}

export type ProxyRequest = StreamRequest<ProxyCaller | undefined>;

const EPHEMERAL = 'ephemeral';
const NO_BYTES = Buffer.alloc(0);
const RIGHTS_FRESH_MS = 100;

/** One call under way. */
interface Underway {
  readonly options: ProxyInvokeOptions;
  readonly request: ProxyRequest;
  readonly asked: AskedProxy;
  readonly called: CalledProxy;
  readonly auditContext: AuditContext;
  readonly share: GrowingShare;
  readonly counted: Counted;
}

/**
 * Sends a request to another company, with values in place of expressions, and its answer back.
 *
 * Log: "Token used in proxy" for each token and "Proxy invoked" are durable together, before anything is sent. Whatever goes wrong
 * behind that has "Proxy invocation failed", durable before the refusal.
 */
export function createProxyInvoke(options: ProxyInvokeOptions): (request: ProxyRequest) => Promise<StreamAnswer> {
  const bytes = createWholeBytes();
  return async (request) => {
    const { clock } = options;
    const { method, params, rawQuery, rawHeaders } = request;
    const fetched = fetchHeaders(rawHeaders);
    if (fetched && isForDisplay({ headers: fetched })) throw displayRefused();
    const sent = { method, path: params['*'] ?? '', rawQuery, rawHeaders };
    const asked = readAskedProxy(sent, options.headerPrefixes);
    const found = calledProxy(options, asked, request.principal);
    const called = found instanceof Promise ? await found : found;
    request.assignTo?.(called.tenantId);
    const startedMs = clock.monotonicMs();
    const share = bytes.open(called.tenantId);
    const auditContext = actingIn(request.auditContext, called);
    const counted = countOnce(options, called, startedMs);
    try {
      const answer = await forward({ options, request, asked, called, auditContext, share, counted });
      counted.answered();
      // A client that leaves in the middle was not failed by anybody.
      if (typeof answer.body === 'function') request.signal.addEventListener('abort', counted.well);
      else counted.well();
      return answer;
    } catch (error) {
      counted.failed(error);
      throw error;
    } finally {
      share.release();
    }
  };
}

function actingIn(context: AuditContext, { acting }: CalledProxy): AuditContext {
  return context.actor === acting?.actor ? context : { ...context, actor: acting?.actor };
}

async function forward(asAsked: Underway): Promise<StreamAnswer> {
  const outgoing = await received(asAsked);
  const underway = outgoing.isLate ? await askedAgain(asAsked) : asAsked;
  const { asked, called } = underway;
  const { query, headers, body } = await resolved(underway, outgoing);
  try {
    const url = destinationUrl(called.baseUrl, asked.path, query);
    const code = called.proxy?.definition.requestTransform ?? null;
    const answer = await send(
      underway,
      url,
      code === null
        ? { headers, body: body ?? outgoing.streamed }
        : await transformed(underway, { query, headers, body: body ?? NO_BYTES }, outgoing.kind, code),
    );
    return await answered(underway, answer);
  } catch (error) {
    const failure = destinationFailure(error);
    await logFailure(underway);
    throw failure;
  }
}

/** The body of a request: whole where it is looked into, else as it comes. */
interface Received {
  readonly kind: BodyKind;
  readonly whole: Buffer | undefined;
  readonly streamed: AsyncIterable<Buffer> | undefined;
  /** It took long to come: what was taken away meanwhile is gone. */
  readonly isLate: boolean;
}

async function received({ options, request, asked, called, share }: Underway): Promise<Received> {
  const kind = bodyKindOf(headerValue(asked.headers, 'content-type'), headerValue(asked.headers, 'content-encoding'));
  if (!hasBody(request.rawHeaders)) return { kind, whole: undefined, streamed: undefined, isLate: false };
  const isForCode = (called.proxy?.definition.requestTransform ?? null) !== null;
  if (kind === 'other' && !isForCode) return { kind, whole: undefined, streamed: request.body, isLate: false };
  const askedMs = options.clock.monotonicMs();
  const { body, readShort } = request;
  const whole = await (readShort ? readShort() : readWholeBody(body, share));
  if (kind === 'other' && !isText(whole)) throw notText();
  const isLate = options.clock.monotonicMs() - askedMs > RIGHTS_FRESH_MS;
  return { kind, whole, streamed: undefined, isLate };
}

/** The call with the rights and the Proxy there are now, as if it had come now. It was counted already. */
async function askedAgain(underway: Underway): Promise<Underway> {
  const { options, request, asked } = underway;
  if ((await underway.auditContext.holder?.isStillAllowed?.()) === false) throw gone();
  const called = await calledProxy({ ...options, countAnonymous: async () => {} }, asked, request.principal);
  return { ...underway, called, auditContext: actingIn(underway.auditContext, called) };
}

function resolved({ options, asked, called, auditContext }: Underway, { kind, whole }: Received) {
  const { tenantId, proxy, acting } = called;
  return resolveRequest(
    {
      vault: options.vault,
      principal: acting,
      tenantId,
      auditContext,
      entry: {
        event: PROXY_EVENTS.invoked,
        entityId: proxy?.proxyId ?? EPHEMERAL,
        outcome: 'success',
        entityVersion: proxy?.version,
      },
      write: (entry) => options.database.append(tenantId, (tx) => record(tx, auditContext, entry)),
    },
    { query: asked.query, headers: asked.headers, body: whole, bodyKind: kind },
  );
}

async function transformed(
  { options, request, asked, called, auditContext }: Underway,
  { query, headers, body }: Transformed & { readonly query: string },
  kind: BodyKind,
  code: string,
): Promise<Transformed> {
  const { proxy } = called;
  assert(proxy, 'only a stored Proxy has code');
  const args = {
    body: bodyForCode(body, kind === 'json'),
    headers: headersForCode(headers),
    method: asked.method,
    path: asked.path,
    query: query === '' ? '' : `?${query}`,
  };
  const { signal } = request;
  return transform(options, { proxy, which: 'request', code, auditContext, signal }, args, { headers, body });
}

function send(
  { options, request, asked, called }: Underway,
  url: string,
  { headers, body }: { readonly headers: HeaderPairs; readonly body: Buffer | AsyncIterable<Buffer> | undefined },
): Promise<OutboundAnswer> {
  const length = Number(headerValue(asked.headers, 'content-length') ?? Number.NaN);
  const isWhole = body === undefined || Buffer.isBuffer(body);
  const isSent = body !== undefined && (!Buffer.isBuffer(body) || body.length > 0);
  return options.outbound.send({
    tenantId: called.tenantId,
    isAnonymous: request.principal === undefined,
    method: asked.method,
    url,
    headers: [...headers, [`${request.prefix}-TRACE-ID`, request.auditContext.traceId ?? '']],
    connectionHeaders: asked.connectionHeaders,
    body: isSent ? body : undefined,
    bodyBytes: !isWhole && Number.isInteger(length) ? length : undefined,
    signal: request.signal,
  });
}

function answered(underway: Underway, answer: OutboundAnswer): Promise<StreamAnswer> {
  const { options, request, asked, called } = underway;
  const head = { prefix: request.prefix, prefixes: options.headerPrefixes };
  const code = called.proxy?.definition.responseTransform ?? null;
  const isSuccess = answer.status >= 200 && answer.status < 300;
  if (code !== null && isSuccess) return transformedAnswer(underway, answer, head, code);
  return passedAnswer(answer, head, asked.method, (flow) => watched(underway, flow));
}

async function transformedAnswer(
  { options, request, asked, called, auditContext, share }: Underway,
  answer: OutboundAnswer,
  head: OurPrefixes,
  code: string,
): Promise<StreamAnswer> {
  const { proxy } = called;
  assert(proxy, 'only a stored Proxy has code');
  const body = await readPlainBody(answer, asked.method, share, WHOLE_BYTES_MAX);
  const headers = answer.headers.filter(([name]) => !/^content-(encoding|length)$/i.test(name));
  const isJson = bodyKindOf(headerValue(headers, 'content-type'), undefined) === 'json';
  const args = { body: bodyForCode(body, isJson), headers: headersForCode(headers) };
  const by = { proxy, which: 'response', code, auditContext, signal: request.signal } as const;
  const made = await transform(options, by, args, { headers, body });
  const { status } = answer;
  return {
    status,
    headers: headOf(status, made.headers, 'made', head),
    body: asked.method === 'HEAD' || status === 204 ? undefined : made.body,
  };
}

/** What fails before its first piece is still answered, so the log has it first; and so it has what breaks off later. */
function watched(underway: Underway, flow: Flow): Flow {
  return async (sink) => {
    let hasBegun = false;
    const write = (piece: Buffer): boolean => {
      hasBegun = true;
      return sink.write(piece);
    };
    try {
      await flow({ write, onRoom: sink.onRoom });
      underway.counted.well();
    } catch (error) {
      const failure = destinationFailure(error);
      if (hasBegun && underway.request.signal.aborted) throw failure;
      underway.counted.failed(failure);
      await logFailure(underway);
      throw failure;
    }
  };
}

function logFailure({ options, called, auditContext }: Underway): Promise<void> {
  const { tenantId, proxy } = called;
  return options.database.append(tenantId, (tx) =>
    record(
      tx,
      { ...auditContext, atMs: options.clock.nowMs() },
      {
        event: PROXY_EVENTS.failed,
        entityId: proxy?.proxyId ?? EPHEMERAL,
        outcome: 'failure',
        entityVersion: proxy?.version,
      },
    ),
  );
}

function notText(): AppError {
  return new AppError('unsupported_media_type', 'A Proxy with code for requests takes text in UTF-8, not compressed.');
}

function gone(): AppError {
  return new AppError('invalid_api_key', 'The API key is not valid. Check it, or ask for a new one.');
}
