import { isJsonObject } from '../../kernel/json-object.js';

/** What has to be remembered between the button and the return. The caller seals it into a cookie of the browser. */
export interface OidcTransaction {
  readonly issuerId: string;
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Whether the issuer was told to ask the person anew, and has to say that it did. */
  readonly asksAgain: boolean;
  /** A browser may keep a cookie for longer than it was told. */
  readonly expiresAtMs: number;
}

export const OIDC_TRANSACTION_MS = 600_000;
/** 62 characters to the 43rd: 256 bits, and the least that PKCE (RFC 7636) allows. */
export const OIDC_SECRET_CHARACTERS = 43;
const SECRET = /^[0-9A-Za-z]{43}$/;

/** What the caller unsealed: a transaction that was made here, or undefined. */
export function readOidcTransaction(value: unknown): OidcTransaction | undefined {
  if (!isJsonObject(value)) return undefined;
  const { issuerId, state, nonce, codeVerifier, asksAgain, expiresAtMs } = value;
  if (typeof issuerId !== 'string' || typeof expiresAtMs !== 'number' || typeof asksAgain !== 'boolean') {
    return undefined;
  }
  return isSecret(state) && isSecret(nonce) && isSecret(codeVerifier)
    ? { issuerId, state, nonce, codeVerifier, asksAgain, expiresAtMs }
    : undefined;
}

/** Never empty: an empty state would be that of a callback without one. */
function isSecret(value: unknown): value is string {
  return typeof value === 'string' && SECRET.test(value);
}
