import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LIMITS } from './catalogue.js';
import { rateLimitHeaders } from './headers.js';

test('a refusal names its limit and the seconds left', () => {
  assert.deepEqual(rateLimitHeaders({ isAllowed: false, row: LIMITS.global, retryAfterMs: 6_500 }), {
    'Retry-After': '7',
    'RateLimit-Policy': '"global";q=1000;w=10',
    RateLimit: '"global";r=0;t=7',
  });
});

test('seconds are whole, rounded up and at least 1', () => {
  const cases: [ms: number, seconds: string][] = [
    [0.001, '1'],
    [1, '1'],
    [1_000, '1'],
    [1_000.5, '2'],
    [10_000, '10'],
  ];
  for (const [retryAfterMs, seconds] of cases) {
    const headers = rateLimitHeaders({ isAllowed: false, row: LIMITS.tokensCreate, retryAfterMs });
    assert.equal(headers['Retry-After'], seconds);
    assert.equal(headers.RateLimit, `"tokens-create";r=0;t=${seconds}`);
  }
});
