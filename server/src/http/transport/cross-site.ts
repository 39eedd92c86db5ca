import type { IncomingMessage } from 'node:http';
import { AppError } from '../../kernel/errors.js';

/** Whether the page that sends a request is one of the Portal. */
export type IsOwnOrigin = (origin: string | undefined) => boolean;

const OWN_SITES = ['same-origin', 'none'];

/**
 * Refuses what a page of somebody else had a browser send with the cookie of the Portal. Every write has to say that it comes
 * from the Portal; a read that says where it comes from has to come from there.
 */
export function refuseCrossSite({ method, headers }: IncomingMessage, isOwnOrigin: IsOwnOrigin): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isRead = method === 'GET' || method === 'HEAD';
  const isOwnSite = typeof site !== 'string' || OWN_SITES.includes(site);
  if (isOwnSite && ((isRead && origin === undefined) || isOwnOrigin(origin))) return;
  throw new AppError(
    'cross_site_refused',
    'This request did not come from the Portal. Open the Portal at the address that its operator set.',
  );
}
