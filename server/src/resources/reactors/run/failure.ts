import { CustomResponse } from '../../../http/transport/custom-response.js';
import { passedHeaders } from '../../../http/transport/foreign-headers.js';
import type { FieldErrors } from '../../../kernel/errors.js';
import { AppError } from '../../../kernel/errors.js';
import type { RunOutcome } from '../../../sandbox/run.js';

/** What a class of `strongroom-errors` stands for: a status, and what its answer says. */
const KINDS: ReadonlyMap<string, readonly [status: number, detail: string]> = new Map([
  ['BadRequestError', [400, 'Bad Request']],
  ['InvalidReactorConfigurationError', [400, 'Invalid Reactor Configuration']],
  ['AuthenticationError', [401, 'Authentication Failed']],
  ['InvalidPaymentMethodError', [402, 'Invalid Payment Method']],
  ['AuthorizationError', [403, 'Forbidden']],
  ['RateLimitError', [429, 'Rate Limit Exceeded']],
  ['ServiceUnavailableError', [503, 'Service Unavailable']],
]);
const RUNTIME_ERROR = 'Reactor Runtime Error';
const STATUS_MIN = 200;
const STATUS_MAX = 599;

type Failed = Exclude<RunOutcome, { readonly outcome: 'returned' }>;

/** The refusal that a run ends in which returned nothing. `prefixes`: of headers that are ours. */
export function failureOfRun(run: Failed, deadlineMs: number, prefixes: readonly string[]): AppError {
  switch (run.outcome) {
    case 'invalid':
      return new AppError('reactor_code_invalid', 'Invalid Reactor Code', { errors: { error: [run.message] } });
    case 'thrown':
      return thrown(run, prefixes);
    case 'timeout':
      return new AppError(
        'reactor_timeout',
        `The code of the Reactor took longer than ${deadlineMs} ms and was ended.`,
      );
    case 'too_large':
      return runtimeError('The answer is larger than 5242880 bytes, or has more than 200000 values.');
    case 'ended':
      return runtimeError('The process of the code ended: it may have used more memory than there is for it.');
    case 'aborted':
      return runtimeError('The run was cancelled.');
  }
}

export function runtimeError(message: string): AppError {
  return reactorError(500, RUNTIME_ERROR, { error: [message] });
}

function thrown(
  { kind = '', errors, response }: Extract<Failed, { readonly outcome: 'thrown' }>,
  prefixes: readonly string[],
): AppError {
  if (kind === 'CustomHttpResponseError') {
    return (
      customResponse(response, prefixes) ?? runtimeError('A CustomHttpResponseError has a status from 200 to 599.')
    );
  }
  const [status, detail] = KINDS.get(kind) ?? [500, RUNTIME_ERROR];
  return reactorError(
    status,
    detail,
    Object.fromEntries(Object.entries(errors).map(([name, all]) => [name, [...all]])),
  );
}

function reactorError(status: number, detail: string, errors: FieldErrors): AppError {
  return new AppError('reactor_error', detail, { status, errors });
}

/** Undefined for what is no answer. */
function customResponse(given: unknown, prefixes: readonly string[]): CustomResponse | undefined {
  const { status, headers = {}, body } = isObject(given) ? given : {};
  if (typeof status !== 'number' || !Number.isInteger(status) || status < STATUS_MIN || status > STATUS_MAX) {
    return undefined;
  }
  if (headers !== null && !isObject(headers)) return undefined;
  const pairs = pairsOf(headers ?? {});
  const passed = pairs && passedHeaders(pairs, prefixes);
  if (!passed) return undefined;
  const isText = typeof body === 'string';
  if (!passed.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'content-type')) {
    passed.push('Content-Type', isText ? 'text/plain; charset=utf-8' : 'application/json');
  }
  return new CustomResponse({ status, headers: passed, body: isText ? body : textOf(body) });
}

function textOf(body: unknown): string {
  return body === undefined || body === null ? '' : JSON.stringify(body);
}

/** Undefined where a value is no text: whatever else code puts there is not asked what it would be as one. */
function pairsOf(headers: Readonly<Record<string, unknown>>): [string, string][] | undefined {
  const pairs: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (typeof each !== 'string' && typeof each !== 'number') return undefined;
      pairs.push([name, String(each)]);
    }
  }
  return pairs;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
