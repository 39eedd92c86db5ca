import type { IDToken } from 'openid-client';
import { codePointLength, hasForbiddenCharacters, isBlank } from '../../kernel/text.js';
import { isMailAddress } from '../../mail/address.js';

/** A person for whom an issuer vouches. Issuer and subject together name them; nothing else does. */
export interface OidcIdentity {
  /** As it stands in the ID token. */
  readonly issuer: string;
  readonly subject: string;
  /** Left out if it is no address to which mail could be sent. */
  readonly email?: string;
  /** Whether the issuer says so. Must be asked before the address means anything. */
  readonly emailVerified: boolean;
  readonly name?: string;
  /** When the issuer last asked the person to prove who it is, if it says so. */
  readonly authenticatedAtMs?: number;
}

/** OpenID Connect Core, section 2. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const NAME_CHARACTERS_MAX = 200;

/** Claims of an ID token that was checked; undefined if they name nobody. */
export function identityOf(claims: IDToken): OidcIdentity | undefined {
  const { iss: issuer, sub: subject, email, email_verified: verified, name, auth_time: authTime } = claims;
  if (!SUBJECT.test(subject)) return undefined;
  const hasEmail = typeof email === 'string' && isMailAddress(email);
  return {
    issuer,
    subject,
    ...(hasEmail && { email }),
    // Some issuers write it as a text.
    emailVerified: hasEmail && (verified === true || verified === 'true'),
    ...(isPersonName(name) && { name }),
    ...(typeof authTime === 'number' && { authenticatedAtMs: authTime * 1_000 }),
  };
}

function isPersonName(value: unknown): value is string {
  if (typeof value !== 'string' || isBlank(value) || hasForbiddenCharacters(value)) return false;
  return codePointLength(value) <= NAME_CHARACTERS_MAX && !/\p{Cc}/u.test(value);
}
