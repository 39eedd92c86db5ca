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
