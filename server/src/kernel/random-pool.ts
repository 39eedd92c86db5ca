import { randomBytes } from 'node:crypto';

const POOL_BYTES = 8_192;

/**
 * Gives random bytes that were drawn many at a time: a call for twelve of them costs as much as one for thousands. Each
 * byte is handed out once; an exhausted pool is replaced, never refilled, because callers still hold parts of it.
 */
export function createRandomPool(): (bytes: number) => Buffer {
  let pool = Buffer.alloc(0);
  let used = 0;
  return (bytes) => {
    if (used + bytes > pool.length) {
      pool = randomBytes(Math.max(POOL_BYTES, bytes));
      used = 0;
    }
    used += bytes;
    return pool.subarray(used - bytes, used);
  };
}
