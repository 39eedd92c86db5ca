import type { IncomingMessage } from 'node:http';
import { AppError } from '../../kernel/errors.js';

/** An answer whose status, headers and body code of a tenant chose. It counts as a failure: nothing keeps it. */
export interface CustomAnswer {
  readonly status: number;
  /** Names and values one behind the other; only those that may pass (`foreign-headers.ts`). */
  readonly headers: readonly string[];
  readonly body: string;
}

export class CustomResponse extends AppError {
  readonly answer: CustomAnswer;

  constructor(answer: CustomAnswer) {
    super('reactor_error', 'The code of the Reactor answers in its own words.', { status: answer.status });
    this.answer = answer;
  }
}

const DOCUMENTS = new Set(['document', 'iframe', 'frame', 'embed', 'object', 'fencedframe', 'script', 'style', 'xslt']);
const WORKERS = new Set(['worker', 'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet']);

/** A browser that would show or run the answer, and not hand it to the script that asked. */
export function isForDisplay({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination } = headers;
  const wanted = typeof destination === 'string' ? destination : '';
  return mode === 'navigate' || DOCUMENTS.has(wanted) || WORKERS.has(wanted);
}

export function displayRefused(): AppError {
  return new AppError('cross_site_refused', 'A browser may not show or run this answer. Ask for it with fetch.');
}
