import type { Answer } from './answer.js';
import { onceDecoded } from './request.js';

/** What an answer is held against besides itself. */
export interface Standard {
  /** Values of another tenant: no answer to anybody here may hold one. */
  readonly foreign: readonly string[];
  /** Ids of another tenant, which an answer may only hold if the request did. */
  readonly foreignIds: readonly string[];
  /** Answers of a flood may be 503 `overloaded`. */
  readonly mayOverload: boolean;
  /** Finds digits of a card that only revealed data may hold: in a refusal, and in an answer to who sees masks alone. */
  readonly canaryIn?: Readonly<Record<'refused' | 'masked', (text: string) => string | undefined>>;
}

export interface Judged {
  readonly method: string;
  readonly target: string;
  /** Everything that was sent, to tell an echo from a leak. */
  readonly text: () => string;
  /** The caller sees masks alone, or may not read at all. */
  readonly isMasked?: boolean;
}

const KEY = /key_(?:pub|pvt|mgt|ses|prx)_[0-9A-Za-z]{32}|rk1_[0-9A-Za-z_-]{43}|rcs_[0-9a-z]{40}/;
/** Calls that answer with a new credential. */
const SHOWS_KEY =
  /^\/(?:applications(?:\/[^/?]+\/(?:regenerate|keys))?|sessions|reactors(?:\/[^/?]+\/callback-secret)?)\/?(?:\?|$)/;
/** Calls that run code of the caller: what it throws is its own, and there may be no process for it at the moment. */
const RUNS_CODE = /^\/reactors\/(?:[^/?]+\/)?(?:react|react-async|test|results\/[^/?]+)\/?(?:\?|$)/;
const CODES_OF_RUNS: Readonly<Record<number, RegExp>> = {
  400: /^reactor_error$/,
  408: /^reactor_timeout$/,
  422: /^reactor_code_invalid$/,
  500: /^reactor_error$/,
  503: /^(overloaded|reactors_unavailable)$/,
};
/** Calls through Proxies: nothing can be reached from here, and refusals stand in a member of their own. */
const THROUGH_PROXY = /^\/proxy(?:[/?]|$)/;
const CODES_OF_PROXIES: Readonly<Record<number, RegExp>> = {
  403: /^cross_site_refused$/,
  422: /^(destination_refused|reactor_code_invalid)$/,
  500: /^reactor_error$/,
  503: /^(overloaded|reactors_unavailable)$/,
};
/** A Proxy's key is its address, and shown wherever the Proxy is. */
const PROXIES = /^\/proxies(?:[/?]|$)/;
const PROXY_KEY = /key_prx_[0-9A-Za-z]{32}/g;
const MEMBERS_OF_RUNS = new Set(['status', 'console', 'duration_ms']);
const INSIDES: readonly RegExp[] = [
  /\bat [^\s"]{1,200} \(?(?:file:|node:|\/)[^\s"]*:\d+/,
  /node_modules|server\/dist|\.strongroom|\/tmp\/|\/root\/|\/home\//,
  /\b(?:SELECT|INSERT INTO|DELETE FROM|UPDATE) [a-z_".]+/,
  /\bpg_[a-z]+|SQLSTATE|relation "|column "|duplicate key value|invalid input syntax|syntax error at/,
  /(?:Type|Range|Reference|Syntax)Error|Cannot read propert|is not a function|ECONN|ENOENT|HPE_/,
];
const INSIDES_OF_RUNS = INSIDES.slice(1, -1);
const CODES_BY_STATUS: Readonly<Record<number, RegExp>> = {
  400: /^(validation_failed|malformed_json|malformed_request|invalid_cursor|invalid_query|invalid_expression|unknown_token|too_many_tokens|ambiguous_credentials)$/,
  401: /^(missing_api_key|invalid_api_key|invalid_portal_session)$/,
  403: /^(permission_denied|access_denied|wrong_application_type|cross_site_refused)$/,
  404: /^not_found$/,
  405: /^method_not_allowed$/,
  408: /^request_timeout$/,
  409: /^(token_id_conflict|idempotency_in_flight|idempotency_answer_not_kept|session_already_authorized)$/,
  413: /^payload_too_large$/,
  415: /^unsupported_media_type$/,
  429: /^rate_limited$/,
  431: /^headers_too_large$/,
  503: /^overloaded$/,
};

/** The rules for every answer, whatever was asked. Undefined: none is broken. */
export function faultOf(answer: Answer, judged: Judged, standard: Standard): string | undefined {
  const { status, headers, body } = answer;
  const runsCode = judged.method === 'POST' && RUNS_CODE.test(onceDecoded(judged.target));
  const isThrough = THROUGH_PROXY.test(onceDecoded(judged.target));
  const mayFail =
    (status === 503 && standard.mayOverload) ||
    (runsCode && CODES_OF_RUNS[status] !== undefined) ||
    (isThrough && CODES_OF_PROXIES[status] !== undefined);
  if (status >= 500 && !mayFail) return `answered ${status}`;
  if (status < 200 || (status >= 300 && status < 400)) return `answered ${status}, which nothing here does`;
  const traceId = headers.get('svc-trace-id') ?? headers.get('bt-trace-id');
  if (traceId === undefined || traceId === '') return 'the answer has no trace id';
  if (headers.get('x-content-type-options') !== 'nosniff') return 'the answer may be sniffed';
  const shown = [body, ...headers.values()].join('\n');
  const foreign =
    standard.foreign.find((value) => shown.includes(value)) ??
    standard.foreignIds.find((id) => shown.includes(id) && !judged.text().includes(id));
  if (foreign !== undefined) return "the answer holds another tenant's value";
  const canaryIn = status >= 300 ? standard.canaryIn?.refused : judged.isMasked && standard.canaryIn?.masked;
  // The trace id is drawn by chance and may look like part of anything.
  const canary = canaryIn ? canaryIn(body.replaceAll(traceId, '')) : undefined;
  if (canary !== undefined && !judged.text().includes(canary)) return 'the answer holds digits of a card';
  if (status < 300) {
    const isShown = judged.method === 'POST' && SHOWS_KEY.test(onceDecoded(judged.target));
    const isOfProxies = PROXIES.test(onceDecoded(judged.target));
    const [key] = KEY.exec(isOfProxies ? body.replaceAll(PROXY_KEY, '') : body) ?? [];
    return key === undefined || isShown || judged.text().includes(key) ? undefined : 'the answer holds a key';
  }
  const isWrapped = isThrough && headers.get('content-type') === 'application/json';
  if (!isWrapped && headers.get('content-type') !== 'application/problem+json') {
    return 'the refusal is no problem document';
  }
  if (judged.method === 'HEAD') return undefined;
  return faultOfProblem(answer, traceId, judged.text, { runsCode, isThrough, isWrapped });
}

function faultOfProblem(
  { status, headers, body }: Answer,
  traceId: string,
  sent: () => string,
  { runsCode, isThrough, isWrapped }: Readonly<Record<'runsCode' | 'isThrough' | 'isWrapped', boolean>>,
): string | undefined {
  const problem = isWrapped ? unwrapped(parse(body)) : parse(body);
  if (problem === undefined) return 'the refusal is not JSON';
  const { type, title, detail, code, trace_id, errors, ...rest } = problem;
  const isOfRun = runsCode && typeof code === 'string' && CODES_OF_RUNS[status]?.test(code) === true;
  const isKnown = [CODES_BY_STATUS, ...(isThrough ? [CODES_OF_PROXIES] : [])].some((codes) =>
    codes[status]?.test(String(code)),
  );
  if (!isOfRun && !isKnown) return `code ${String(code)} with ${status}`;
  if (rest.status !== status || !hasMembers(rest, isOfRun)) return 'the members of the problem are not as agreed';
  if (type !== `urn:strongroom:problem:${code}`) return 'the type of the problem does not match its code';
  if (trace_id !== traceId) return 'the trace id of the problem is not that of its header';
  if (typeof title !== 'string' || typeof detail !== 'string' || title === '' || detail === '')
    return 'it says nothing';
  if (errors !== undefined && !isFieldErrors(errors)) return 'errors is no map of paths to messages';
  if (status === 401 && headers.get('www-authenticate') === undefined) return '401 without WWW-Authenticate';
  if ((status === 429 || status === 503) && headers.get('retry-after') === undefined) return 'no Retry-After';
  if (status === 405 && headers.get('allow') === undefined) return '405 without Allow';
  if (KEY.test(body)) return 'the refusal holds a key';
  // What code throws is JavaScript's own word; paths and statements of ours are nowhere in it.
  for (const pattern of isOfRun ? INSIDES_OF_RUNS : INSIDES) {
    const [found] = pattern.exec(body) ?? [];
    // The path of a field may repeat the name a client gave it.
    if (found !== undefined && !sent().includes(found)) return `the refusal shows insides: ${found.slice(0, 60)}`;
  }
  return undefined;
}

function unwrapped(body: Readonly<Record<string, unknown>> | undefined): Readonly<Record<string, unknown>> | undefined {
  const { proxy_error: problem } = body ?? {};
  return typeof problem === 'object' && problem !== null ? { ...problem } : undefined;
}

function hasMembers(rest: Readonly<Record<string, unknown>>, isOfRun: boolean): boolean {
  const names = Object.keys(rest);
  return isOfRun ? names.every((name) => MEMBERS_OF_RUNS.has(name)) : names.length === 1;
}

function parse(body: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isFieldErrors(errors: unknown): boolean {
  if (typeof errors !== 'object' || errors === null) return false;
  return Object.values(errors).every(
    (messages) => Array.isArray(messages) && messages.every((message) => typeof message === 'string'),
  );
}
