import { STATUS_CODES } from 'node:http';
import type { ErrorCode, FieldErrors } from '../../kernel/errors.js';
import { AppError } from '../../kernel/errors.js';

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

/** Who is told. */
export interface Caller {
  readonly traceId: string;
  readonly prefix: string;
  /** Reads errors as plain JSON alone. */
  readonly isPlainJson?: boolean;
  /** The member of the body that the problem stands in. */
  readonly problemsIn?: string | undefined;
}

const INTERNAL_DETAIL = 'Something failed on our side. Try again; if it stays, give the trace id to the operator.';

/** A 401 of the Portal has nothing to do with the header of a key. */
function isAboutKeys(code: ErrorCode): boolean {
  return code === 'missing_api_key' || code === 'invalid_api_key';
}

function detailOf(code: ErrorCode, message: string, keyHeader: string, { problemsIn }: Caller): string {
  if (problemsIn !== undefined && code === 'missing_api_key') return `The ${keyHeader} header is required`;
  return isAboutKeys(code) ? `${message} It goes into the header ${keyHeader}.` : message;
}

/** The one place that turns a failure into a response. What is not an AppError tells the caller nothing. */
export function problemOf(error: unknown, caller: Caller): Problem {
  const { code, status, message, errors, headers, members } =
    error instanceof AppError ? error : new AppError('internal_error', INTERNAL_DETAIL);
  const keyHeader = `${caller.prefix}-API-KEY`;
  const body: ProblemBody = {
    type: `urn:strongroom:problem:${code}`,
    title: code === 'validation_failed' ? 'Validation Failed' : (STATUS_CODES[status] ?? ''),
    status,
    detail: detailOf(code, message, keyHeader, caller),
    code,
    trace_id: caller.traceId,
    ...(errors !== undefined && { errors }),
    ...members,
  };
  return {
    status,
    headers: {
      'Content-Type': caller.isPlainJson || caller.problemsIn ? 'application/json' : 'application/problem+json',
      ...(status === 401 &&
        code !== 'reactor_error' && { 'WWW-Authenticate': `ApiKey realm="strongroom", header="${keyHeader}"` }),
      ...headers,
    },
    body: JSON.stringify(caller.problemsIn === undefined ? body : { [caller.problemsIn]: body }),
  };
}
