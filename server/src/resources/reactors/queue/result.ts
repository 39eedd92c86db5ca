import type { CustomAnswer } from '../../../http/transport/custom-response.js';
import { CustomResponse } from '../../../http/transport/custom-response.js';
import { problemOf } from '../../../http/transport/problem.js';
import type { ErrorCode, FieldErrors } from '../../../kernel/errors.js';
import { AppError } from '../../../kernel/errors.js';
import type { InvocationResult, ReactAnswer } from '../run/invocation.js';

/** A refusal, with all that its problem object is made of. */
interface StoredProblem {
  readonly code: ErrorCode;
  readonly status: number;
  readonly detail: string;
  readonly errors?: FieldErrors | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly members?: Readonly<Record<string, unknown>> | undefined;
}

/** What a run came to, as it is kept. */
export type StoredResult =
  | { readonly answer: ReactAnswer }
  | { readonly problem: StoredProblem }
  | { readonly custom: CustomAnswer };

export function storedResultOf({ answer, failure }: InvocationResult): StoredResult {
  if (answer) return { answer };
  if (failure instanceof CustomResponse) return { custom: failure.answer };
  const { code, status, message: detail, errors, headers, members } = failure;
  return { problem: { code, status, detail, errors, headers, members } };
}

/** The answer the caller would have got who waits for it; throws the very same refusal. */
export function answerFrom(result: StoredResult): ReactAnswer {
  if ('answer' in result) return result.answer;
  if ('custom' in result) throw new CustomResponse(result.custom);
  const { code, detail, status, errors, headers, members } = result.problem;
  throw new AppError(code, detail, { status, headers, ...(errors && { errors }), ...(members && { members }) });
}

/** What is sent to a callback. */
export interface CallbackMessage {
  readonly contentType: string;
  readonly body: string;
}

const JSON_TYPE = 'application/json';

export function callbackMessageOf(result: StoredResult, traceId: string): CallbackMessage {
  if ('answer' in result) return { contentType: JSON_TYPE, body: JSON.stringify(result.answer) };
  if ('custom' in result) return { contentType: contentTypeOf(result.custom), body: result.custom.body };
  try {
    answerFrom(result);
  } catch (error) {
    return { contentType: JSON_TYPE, body: problemOf(error, { traceId, prefix: 'SVC' }).body };
  }
  throw new Error('assertion failed: a problem is thrown');
}

function contentTypeOf({ headers }: CustomAnswer): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return headers[at + 1] ?? JSON_TYPE;
}
