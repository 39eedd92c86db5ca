import type { FieldErrors } from '../kernel/errors.js';
import { AppError, ERROR_CATALOGUE } from '../kernel/errors.js';

/** A failure as it goes over the wire. */
export interface Problem {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly trace_id: string;
  readonly errors?: FieldErrors;
}

const INTERNAL_DETAIL = 'Something failed on our side. Try again; if it stays, give the trace id to the operator.';

/** The one place that turns a failure into a response. What is not an AppError tells the caller nothing. */
export function problemOf(error: unknown, caller: { readonly traceId: string; readonly prefix: string }): Problem {
  const { code, message, errors, headers } =
    error instanceof AppError ? error : new AppError('internal_error', INTERNAL_DETAIL);
  const { status, title } = ERROR_CATALOGUE[code];
  const body: ProblemBody = {
    type: `urn:strongroom:problem:${code}`,
    title,
    status,
    detail: message,
    code,
    trace_id: caller.traceId,
    ...(errors !== undefined && { errors }),
  };
  return {
    status,
    headers: {
      'Content-Type': 'application/problem+json',
      ...(status === 401 && { 'WWW-Authenticate': `ApiKey realm="strongroom", header="${caller.prefix}-API-KEY"` }),
      ...headers,
    },
    body: JSON.stringify(body),
  };
}
