import assert from 'node:assert/strict';
import { BasisTheoryError } from '@basis-theory/node-sdk';

/** Checks that a failure has its class, and that what our problem says can be read from it. */
export function isError(error: unknown, kind: abstract new (...args: never) => Error, field?: string): boolean {
  assert.ok(error instanceof kind && error instanceof BasisTheoryError, String(error));
  const { statusCode, body } = error;
  assert.ok(typeof body === 'object' && body !== null);
  const problem: Partial<Record<string, unknown>> = { ...body };
  assert.equal(problem.status, statusCode);
  for (const name of ['type', 'title', 'detail']) assert.match(String(problem[name]), /\S/);
  if (field !== undefined) assert.ok(Object.hasOwn(Object(problem.errors), field), JSON.stringify(problem));
  return true;
}

export function statusOf(error: unknown): unknown {
  return error instanceof BasisTheoryError ? error.statusCode : undefined;
}

export function traceIdOf(error: unknown): unknown {
  const body: unknown = error instanceof BasisTheoryError ? error.body : undefined;
  return typeof body === 'object' && body !== null && 'trace_id' in body ? body.trace_id : undefined;
}

export async function toArray<T>(items: AsyncIterable<T>): Promise<T[]> {
  const array: T[] = [];
  for await (const item of items) array.push(item);
  return array;
}
