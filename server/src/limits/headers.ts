import type { Refusal } from './rate-counter.js';

/**
 * What a refused client is told. Seconds are rounded up: one who waits as long as it was told must find the block gone.
 */
export function rateLimitHeaders(refusal: Refusal) {
  const { row } = refusal;
  const seconds = Math.max(1, Math.ceil(refusal.retryAfterMs / 1_000));
  return {
    'Retry-After': String(seconds),
    'RateLimit-Policy': `"${row.name}";q=${row.requests};w=${row.windowMs / 1_000}`,
    RateLimit: `"${row.name}";r=0;t=${seconds}`,
  };
}
