import assert from 'node:assert/strict';
import { BasisTheoryApiError } from '@basis-theory/basis-theory-js/common/index.js';

/** Checks that a failure has its class and status, and that what our problem says can be read from it. */
export function isApiError(error: unknown, status: number, field?: string): boolean {
  assert.ok(error instanceof BasisTheoryApiError, String(error));
  assert.equal(error.status, status);
  const data: unknown = error.data;
  assert.ok(typeof data === 'object' && data !== null);
  const problem: Partial<Record<string, unknown>> = { ...data };
  assert.equal(problem.status, status);
  for (const name of ['type', 'title', 'detail']) assert.match(String(problem[name]), /\S/);
  if (field !== undefined) assert.ok(Object.hasOwn(Object(problem.errors), field), JSON.stringify(problem));
  return true;
}

export function traceIdOfApiError(error: unknown): unknown {
  const data: unknown = error instanceof BasisTheoryApiError ? error.data : undefined;
  return typeof data === 'object' && data !== null && 'traceId' in data ? data.traceId : undefined;
}
