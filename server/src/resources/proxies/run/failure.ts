import { AppError, overloaded } from '../../../kernel/errors.js';
import type { OutboundFailure } from '../../../outbound/outbound-error.js';
import { OutboundError } from '../../../outbound/outbound-error.js';

const UNREACHABLE = 'destination_unreachable';

/** What a caller is told of a request that has no answer. */
const REFUSALS: Readonly<Record<OutboundFailure, (message: string) => AppError>> = {
  invalid: (message) => new AppError('malformed_request', message),
  refused: (message) => new AppError('destination_refused', message),
  busy: () => overloaded(),
  unreachable: (message) => new AppError(UNREACHABLE, message),
  untrusted: (message) => new AppError(UNREACHABLE, message),
  bad_answer: (message) => new AppError(UNREACHABLE, message),
  too_large: (message) => new AppError(UNREACHABLE, message),
  timeout: (message) => new AppError('destination_timeout', message),
  body_failed: () => new AppError('malformed_request', 'The body of the request broke off.'),
  aborted: () => new AppError('malformed_request', 'The client left before there was an answer.'),
};

/** Says nothing of the destination but what happened. Whatever else was thrown stays what it is. */
export function destinationFailure(error: unknown): unknown {
  if (!(error instanceof OutboundError)) return error;
  // What the body of the request threw is the caller's own fault, and known by its own words.
  if (error.code === 'body_failed' && error.cause instanceof AppError) return error.cause;
  return REFUSALS[error.code](error.message);
}
