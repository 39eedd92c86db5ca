import { CustomResponse } from '../../../http/transport/custom-response.js';
import type { AppError, ErrorCode } from '../../../kernel/errors.js';

/**
 * What calls of Proxies are counted by that did not succeed: the classes of `strongroom-errors`, and what else can become of a
 * call. A fixed set, because whatever code throws must not become a name in a table.
 */
export const PROXY_FAILURE_CLASSES = [
  ...['BadRequestError', 'InvalidReactorConfigurationError', 'AuthenticationError', 'InvalidPaymentMethodError'],
  ...['AuthorizationError', 'RateLimitError', 'ServiceUnavailableError', 'CustomHttpResponseError'],
  ...['ReactorRuntimeError', 'invalid_code', 'timeout', 'too_large', 'ended', 'cancelled'],
  /** The request was refused before anything of it was sent: its tokens, its size, its destination. */
  'refused',
  /** There was no process for a transform. */
  'not_run',
  /** The destination did not answer in time. */
  'destination_timeout',
  /** It could not be reached, or ended the connection. */
  'destination_failed',
] as const;

export type ProxyFailureClass = (typeof PROXY_FAILURE_CLASSES)[number];

const BY_CODE: Readonly<Partial<Record<ErrorCode, ProxyFailureClass>>> = {
  destination_timeout: 'destination_timeout',
  destination_unreachable: 'destination_failed',
  reactor_timeout: 'timeout',
  reactor_code_invalid: 'invalid_code',
  reactors_unavailable: 'not_run',
  overloaded: 'not_run',
};
/** What code threw is known by the status of its class. */
const BY_STATUS: Readonly<Record<number, ProxyFailureClass>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  402: 'InvalidPaymentMethodError',
  403: 'AuthorizationError',
  429: 'RateLimitError',
  503: 'ServiceUnavailableError',
};

export function proxyFailureOf(failure: AppError): ProxyFailureClass {
  if (failure instanceof CustomResponse) return 'CustomHttpResponseError';
  if (failure.code === 'reactor_error') return BY_STATUS[failure.status] ?? 'ReactorRuntimeError';
  return BY_CODE[failure.code] ?? 'refused';
}
