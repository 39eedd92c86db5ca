import { AppError } from '../kernel/errors.js';
import { Secret } from '../kernel/secret.js';
import type { User } from './principal.js';

/** The cookie of a Portal session. The prefix makes browsers hold it to this host, and to TLS. */
export const PORTAL_COOKIE = '__Host-strongroom_session';

/** The Portal sessions that users signed in to. */
export interface UserSessions {
  /**
   * The user of a session as a member of a tenant, with the permissions of the role there. Undefined for a session that is
   * unknown, ended or over. Must throw 404 for a tenant the user is no member of, and 400 `tenant_required` where none is
   * named. Must keep the secret neither in memory nor in a log.
   */
  find(secret: Secret<string>, tenantId: string | undefined, from: RequestOrigin): Promise<User | undefined>;
}

/** Where a request comes from, for the entry of a user's first act. */
export interface RequestOrigin {
  readonly sourceAddress: string;
  readonly traceId: string;
}

/** What of a request says which user it is. */
export interface PortalCredential extends RequestOrigin {
  /** The value of the cookie. */
  readonly secret: Secret<string>;
  /** The tenant named in the header, as sent. */
  readonly tenantId: string | undefined;
}

/** Finds the user behind a Portal cookie, or ends the request with a 401. */
export type PortalCookieReader = (credential: PortalCredential | undefined) => Promise<User>;

/** Without sessions to ask nobody is signed in. */
export function createPortalCookieReader(sessions: UserSessions | undefined): PortalCookieReader {
  return async (credential) => {
    const user = credential && (await sessions?.find(credential.secret, credential.tenantId, credential));
    if (user === undefined) throw notSignedIn();
    return user;
  };
}

/**
 * The value of the Portal cookie in a Cookie header, which only routes that admit users look at. Two such cookies count
 * as none, because readers differ in which one they take.
 */
export function portalCookieIn(header: string | undefined): Secret<string> | undefined {
  return cookieIn(header, PORTAL_COOKIE);
}

/** The same for another cookie of the Portal. */
export function cookieIn(header: string | undefined, name: string): Secret<string> | undefined {
  if (header === undefined || !header.includes(name)) return undefined;
  const values: string[] = [];
  for (const pair of header.split(';')) {
    const equals = pair.indexOf('=');
    if (equals !== -1 && pair.slice(0, equals).trim() === name) values.push(pair.slice(equals + 1).trim());
  }
  const [value = '', ...others] = values;
  return value === '' || others.length > 0 ? undefined : new Secret(value);
}

function notSignedIn(): AppError {
  return new AppError('invalid_portal_session', 'There is no Portal session, or it is over. Sign in to the Portal.');
}
