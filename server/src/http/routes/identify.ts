import { isDeepStrictEqual } from 'node:util';
import { portalCookieIn } from '../../access/portal-cookie-reader.js';
import type { Admits, Principal } from '../../access/principal.js';
import { AppError } from '../../kernel/errors.js';
import { refuseCrossSite } from '../transport/cross-site.js';
import type { Exchange } from '../transport/respond.js';
import type { RunnerOptions } from './runner.js';

/** Finds out who asks, or ends the request with a 401. */
export type Identify = (exchange: Exchange) => Principal | Promise<Principal>;

export type IdentifyOptions = Pick<RunnerOptions, 'authenticate' | 'readPortalCookie' | 'portal' | 'onUnauthenticated'>;

export function admitsKeys(admits: Admits): boolean {
  return admits !== 'anyone' && (admits.includes('application') || admits.includes('session'));
}

export function admitsUsers(admits: Admits): boolean {
  return admits !== 'anyone' && admits.includes('user');
}

/**
 * The credentials that a route looks at, by whom it admits: a cookie opens no route that does not admit users, because nobody
 * looks at it there, and a key none that admits users alone.
 */
export function createIdentify(admits: Admits, options: IdentifyOptions): Identify {
  const { authenticate, readPortalCookie } = options;
  const takesKeys = admitsKeys(admits);
  const find = admitsUsers(admits) ? byCookieOrKey : byKey;

  function byKey({ context }: Exchange): Principal | Promise<Principal> {
    return authenticate(context.headers.apiKey);
  }

  function byCookieOrKey(exchange: Exchange): Principal | Promise<Principal> {
    const { request, context } = exchange;
    const { apiKey, tenantId } = context.headers;
    const secret = portalCookieIn(request.headers.cookie);
    if (secret !== undefined && apiKey !== undefined) throw ambiguous();
    if (secret === undefined && takesKeys) return byKey(exchange);
    refuseCrossSite(request, options.portal.isOwnOrigin);
    const { sourceAddress, traceId } = context;
    return readPortalCookie(secret && { secret, tenantId, sourceAddress, traceId });
  }

  function refuse({ context }: Exchange, error: unknown): never {
    if (error instanceof AppError && error.status === 401) options.onUnauthenticated(context, error);
    throw error;
  }

  return (exchange) => {
    try {
      const found = find(exchange);
      return found instanceof Promise ? found.catch((error: unknown) => refuse(exchange, error)) : found;
    } catch (error) {
      return refuse(exchange, error);
    }
  };
}

/**
 * Asks again who this is. The rights a key has are one object while nothing changes; where nothing is remembered, what they say is
 * compared.
 *
 * It holds the whole request, so it is made here and only then put into the context; see decision 54.
 */
export function askingAgain(identify: Identify, exchange: Exchange, principal: Principal): () => Promise<boolean> {
  return async () => {
    try {
      const now = await identify(exchange);
      return now === principal || isDeepStrictEqual(now, principal);
    } catch (error) {
      if (error instanceof AppError && error.status === 401) return false;
      throw error;
    }
  };
}

function ambiguous(): AppError {
  const detail = 'The request has both an API key and a Portal session. Send one of them.';
  return new AppError('ambiguous_credentials', detail);
}
