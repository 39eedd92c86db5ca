import { AppError } from '../../../kernel/errors.js';
import { PROXY_ANONYMOUS } from '../../../limits/catalogue.js';
import { rateLimitHeaders } from '../../../limits/headers.js';
import type { RateCounter } from '../../../limits/rate-counter.js';
import type { CurrentProxy } from '../definition/current-proxy.js';

/** Counts calls without a key by the Proxy they go through, whatever addresses they come from. */
export function createAnonymousLimit(counter: () => Pick<RateCounter, 'check'> | undefined) {
  return async ({ proxyId }: Pick<CurrentProxy, 'proxyId'>): Promise<void> => {
    const verdict = await counter()?.check(proxyId, [PROXY_ANONYMOUS]);
    if (verdict === undefined || verdict.isAllowed) return;
    throw new AppError('rate_limited', 'This Proxy has too many calls without a key. Slow down, or send a key.', {
      headers: rateLimitHeaders(verdict),
    });
  };
}
