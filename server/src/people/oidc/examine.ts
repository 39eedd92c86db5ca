import type { Clock } from '../../kernel/clock.js';
import type { Outbound } from '../../outbound/outbound.js';
import { createDiscoveredIssuers } from './discovered.js';
import type { OidcIssuer } from './issuers-file.js';
import { createOutboundFetch, IssuerUnavailable } from './outbound-fetch.js';

/** What is known of an issuer without anybody signing in. */
export interface ExaminedIssuer {
  readonly name: string;
  /** Why people cannot sign in with it; undefined for one whose document is good. Nothing of what it answered. */
  readonly fault: string | undefined;
}

/** Asks each issuer for its document, on the way that sign-ins take. No secret is sent. */
export function examineIssuers(
  issuers: readonly OidcIssuer[],
  { outbound, clock, timeoutMs }: { outbound: Pick<Outbound, 'send'>; clock: Clock; timeoutMs: number },
): Promise<ExaminedIssuer[]> {
  const discovered = createDiscoveredIssuers({ fetch: createOutboundFetch(outbound, timeoutMs), clock, timeoutMs });
  return Promise.all(
    issuers.map(async (issuer) => {
      try {
        await discovered.of(issuer);
        return { name: issuer.name, fault: undefined };
      } catch (error) {
        if (!(error instanceof IssuerUnavailable)) throw error;
        return { name: issuer.name, fault: error.message };
      }
    }),
  );
}
