import { createHmac } from 'node:crypto';
import { withWiped } from '../crypto/wiped.js';
import type { Arguments } from './arguments.js';
import { textAt } from './arguments.js';
import type { Budget } from './budget.js';
import { invalidExpression } from './faults.js';
import { isNil, textOf } from './values.js';

const CALL_UNITS = 4_000;
const BYTE_UNITS = 2;
const ALGORITHMS: ReadonlyMap<string, string> = new Map([
  ['sha-256', 'sha256'],
  ['sha-1', 'sha1'],
  ['sha-512', 'sha512'],
]);
const LIKE_AN_ALGORITHM = /^(sha|md)-?\d+$/i;

/** `hmac: algorithm, key`. Left out or nil, the algorithm is SHA-256. */
export function hmac(input: unknown, args: Arguments, budget: Budget): Buffer {
  const hasAlgorithm = args.values.length > 1;
  const name = hasAlgorithm ? textAt(args, 0, 'the algorithm', 'sha-256') : 'sha-256';
  const algorithm = ALGORITHMS.get(name.toLowerCase());
  if (algorithm === undefined) {
    throw invalidExpression(`The filter ${args.filter} knows the algorithms ${[...ALGORITHMS.keys()].join(', ')}.`);
  }
  const key = textAt(args, hasAlgorithm ? 1 : 0, 'the key');
  // A single argument is the key; one that names an algorithm is a key that was forgotten.
  if (key === '' || (!hasAlgorithm && LIKE_AN_ALGORITHM.test(key))) {
    throw invalidExpression(`The filter ${args.filter} needs a key after the algorithm.`);
  }
  return withBytes(input, budget, (bytes) => {
    budget.spend(CALL_UNITS);
    return createHmac(algorithm, key).update(bytes).digest();
  });
}

export function toBase64(input: unknown, _args: Arguments, budget: Budget): string {
  return withBytes(input, budget, (bytes) => bytes.toString('base64'));
}

export function toBase16(input: unknown, _args: Arguments, budget: Budget): string {
  return withBytes(input, budget, (bytes) => bytes.toString('hex').toUpperCase());
}

/** Bytes of a text are a copy of ours, which is wiped. */
function withBytes<T>(input: unknown, budget: Budget, use: (bytes: Buffer) => T): T {
  if (Buffer.isBuffer(input)) return use(input);
  const text = textOf(isNil(input) ? '' : input, budget);
  budget.spend(CALL_UNITS / 10 + text.length * BYTE_UNITS);
  return withWiped(Buffer.from(text, 'utf8'), use);
}
