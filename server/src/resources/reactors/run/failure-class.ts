import { CustomResponse } from '../../../http/transport/custom-response.js';
import type { AppError } from '../../../kernel/errors.js';
import type { RunOutcome } from '../../../sandbox/run.js';

const THROWN = [
  'BadRequestError',
  'InvalidReactorConfigurationError',
  'AuthenticationError',
  'InvalidPaymentMethodError',
  'AuthorizationError',
  'RateLimitError',
  'ServiceUnavailableError',
] as const;

/**
 * What calls are counted by that did not succeed: the classes of `strongroom-errors`, and what else can become of a call. A
 * fixed set, because whatever code throws must not become a name in a table.
 */
export const FAILURE_CLASSES = [
  ...THROWN,
  'CustomHttpResponseError',
  'ReactorRuntimeError',
  'invalid_code',
  'timeout',
  'too_large',
  'ended',
  'cancelled',
  /** The code ended well, but what it gave as `tokenize` was refused. */
  'refused',
  /** There was no process for it, or its arguments were too large: the code did not begin. */
  'not_run',
] as const;
export type FailureClass = (typeof FAILURE_CLASSES)[number];

/** Undefined for a call that succeeded. */
export function failureClassOf(run: RunOutcome, failure: AppError | undefined): FailureClass | undefined {
  if (!failure) return undefined;
  switch (run.outcome) {
    case 'invalid':
      return 'invalid_code';
    case 'aborted':
      return 'cancelled';
    case 'timeout':
    case 'too_large':
    case 'ended':
      return run.outcome;
    case 'thrown':
      if (failure instanceof CustomResponse) return 'CustomHttpResponseError';
      return THROWN.find((name) => name === run.kind) ?? 'ReactorRuntimeError';
    case 'returned':
      return failure.code === 'reactor_error' ? 'ReactorRuntimeError' : 'refused';
  }
}
