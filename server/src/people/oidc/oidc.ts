import { createHash, timingSafeEqual } from 'node:crypto';
import type { Configuration } from 'openid-client';
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';
import { DIGITS, LOWER_CASE_LETTERS, randomText } from '../../crypto/random-text.js';
import type { Clock } from '../../kernel/clock.js';
import { AppError } from '../../kernel/errors.js';
import { parseUrl } from '../../kernel/parse-url.js';
import type { Outbound } from '../../outbound/outbound.js';
import { createDiscoveredIssuers, unavailableOf } from './discovered.js';
import type { OidcIdentity } from './identity.js';
import { identityOf } from './identity.js';
import type { OidcIssuer } from './issuers-file.js';
import { createOutboundFetch, IssuerUnavailable } from './outbound-fetch.js';
import type { OidcTransaction } from './transaction.js';
import { OIDC_SECRET_CHARACTERS, OIDC_TRANSACTION_MS, readOidcTransaction } from './transaction.js';

/** For the operator's log. Whoever signs in is told the same for all of them, but for `denied`. */
export type OidcRefusalReason =
  /** There is none, it is not ours, it is too old, or its issuer is not configured any more. */
  | 'transaction'
  /** The return is not to the address of this issuer, or not one that can be read. */
  | 'callback'
  /** It belongs to another sign-in. */
  | 'state'
  /** The answer is of another issuer than the one that was asked. */
  | 'issuer'
  /** The issuer says no: most often because the person did. */
  | 'denied'
  /** The issuer does not know the code, or not any more. */
  | 'code'
  /** What vouches for the person is not valid. */
  | 'token';

export interface OidcRefusal {
  readonly refused: OidcRefusalReason;
  /** A word of the library for what is wrong, never a value. */
  readonly code?: string;
}

/** Who came back, and from whom. */
export interface OidcVoucher {
  readonly identity: OidcIdentity;
  readonly issuerId: string;
  readonly hasSecondFactor: boolean;
}

/** Lets issuers of the operator's choice vouch for people. It stores nothing, and knows no users. */
export interface Oidc {
  list(): readonly Pick<OidcIssuer, 'id' | 'name' | 'issuer' | 'hasSecondFactor'>[];
  /** What the operator registers at the issuer; undefined if there is no such issuer. */
  redirectUri(issuerId: string): string | undefined;
  /** Where to send the browser. Throws 404 for an issuer that is not there, 503 for one that cannot be asked. */
  begin(
    issuerId: string,
    options?: { readonly asksAgain?: boolean },
  ): Promise<{ readonly url: string; readonly transaction: OidcTransaction }>;
  /**
   * Who came back. Both arguments may be anything. The caller forgets the transaction with the first call, whatever comes of
   * it. Throws 503 if the issuer cannot be asked.
   */
  finish(transaction: unknown, callbackUrl: string): Promise<OidcVoucher | OidcRefusal>;
}

export interface OidcOptions {
  readonly issuers: readonly OidcIssuer[];
  readonly portalUrl: () => string;
  readonly outbound: Pick<Outbound, 'send'>;
  readonly clock: Clock;
  /** Of one request to an issuer. */
  readonly timeoutMs?: number;
}

/** The id of the issuer follows: an answer of one cannot be taken for that of another, also where it does not say its name. */
export const OIDC_CALLBACK_PATH = '/portal/api/oidc/callback';
const TIMEOUT_MS = 5_000;
const RETRY_SECONDS = 10;
/** A person who was told to prove who it is did so since then. */
const ASKED_AGAIN_SECONDS = 600;
const CALLBACK_CHARACTERS_MAX = 16_384;
const ALPHANUMERICS = LOWER_CASE_LETTERS + LOWER_CASE_LETTERS.toUpperCase() + DIGITS;
/** They are about us and not about this sign-in: the secret is wrong, or the client is not allowed what it asks. */
const FAULTS_OF_CLIENT = ['invalid_client', 'unauthorized_client', 'unsupported_grant_type'];

export function createOidc(options: OidcOptions): Oidc {
  const { issuers, portalUrl, outbound, clock, timeoutMs = TIMEOUT_MS } = options;
  const fetch = createOutboundFetch(outbound, timeoutMs);
  const discovered = createDiscoveredIssuers({ fetch, clock, timeoutMs });
  const find = (issuerId: string): OidcIssuer | undefined => issuers.find(({ id }) => id === issuerId);
  const redirectUriOf = ({ id }: OidcIssuer): string => `${portalUrl()}${OIDC_CALLBACK_PATH}/${id}`;

  return {
    list: () => issuers.map(({ id, name, issuer, hasSecondFactor }) => ({ id, name, issuer, hasSecondFactor })),

    redirectUri(issuerId) {
      const issuer = find(issuerId);
      return issuer && redirectUriOf(issuer);
    },

    async begin(issuerId, { asksAgain = false } = {}) {
      const issuer = find(issuerId);
      if (issuer === undefined) throw new AppError('not_found', 'There is no such issuer.');
      const configuration = await orUnavailable(discovered.of(issuer));
      const transaction = newTransaction(issuer, asksAgain, clock);
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUriOf(issuer),
        scope: issuer.scopes.join(' '),
        state: transaction.state,
        nonce: transaction.nonce,
        code_challenge: await calculatePKCECodeChallenge(transaction.codeVerifier),
        code_challenge_method: 'S256',
        ...(asksAgain && { prompt: 'login', max_age: String(ASKED_AGAIN_SECONDS) }),
      });
      return { url: url.href, transaction };
    },

    async finish(given, callbackUrl) {
      const transaction = readOidcTransaction(given);
      const issuer = transaction && find(transaction.issuerId);
      if (!transaction || !issuer || clock.nowMs() >= transaction.expiresAtMs) return { refused: 'transaction' };
      const redirectUri = redirectUriOf(issuer);
      const parameters = parametersOf(callbackUrl, redirectUri);
      if (parameters === undefined) return { refused: 'callback' };
      if (!isSameText(parameters.get('state') ?? '', transaction.state)) return { refused: 'state' };
      const configuration = await orUnavailable(discovered.of(issuer));
      if (!isOfIssuer(parameters, configuration)) return { refused: 'issuer' };
      // Ours with what came behind the question mark: nothing else of the address is used.
      const returned = new URL(`${redirectUri}?${parameters}`);
      const identity = await orUnavailable(vouchedFor(configuration, returned, transaction));
      if ('refused' in identity) return identity;
      return { identity, issuerId: issuer.id, hasSecondFactor: issuer.hasSecondFactor };
    },
  };
}

function newTransaction({ id: issuerId }: OidcIssuer, asksAgain: boolean, clock: Clock): OidcTransaction {
  const [state, nonce, codeVerifier] = [newSecret(), newSecret(), newSecret()];
  return { issuerId, state, nonce, codeVerifier, asksAgain, expiresAtMs: clock.nowMs() + OIDC_TRANSACTION_MS };
}

function newSecret(): string {
  return randomText(ALPHANUMERICS, OIDC_SECRET_CHARACTERS);
}

/** Each parameter once, of an address that has the path of this issuer. Host and port are those that a proxy made of it. */
function parametersOf(callbackUrl: string, redirectUri: string): URLSearchParams | undefined {
  if (callbackUrl.length > CALLBACK_CHARACTERS_MAX) return undefined;
  const expected = new URL(redirectUri);
  const url = callbackUrl.startsWith('/') ? parseUrl(`${expected.origin}${callbackUrl}`) : parseUrl(callbackUrl);
  if (url === undefined || url.pathname !== expected.pathname) return undefined;
  const names = [...url.searchParams.keys()];
  return new Set(names).size === names.length ? url.searchParams : undefined;
}

/** The mix-up defence of RFC 9207. The library does the same; here it has a reason of its own. */
function isOfIssuer(parameters: URLSearchParams, configuration: Configuration): boolean {
  const { issuer, authorization_response_iss_parameter_supported: isAnnounced } = configuration.serverMetadata();
  const named = parameters.get('iss');
  return named === null ? isAnnounced !== true : named === issuer;
}

async function vouchedFor(
  configuration: Configuration,
  returned: URL,
  { state, nonce, codeVerifier, asksAgain }: OidcTransaction,
): Promise<OidcIdentity | OidcRefusal> {
  const checks = {
    ...{ expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true },
    ...(asksAgain && { maxAge: ASKED_AGAIN_SECONDS }),
  };
  try {
    const claims = (await authorizationCodeGrant(configuration, returned, checks)).claims();
    return (claims && identityOf(claims)) ?? { refused: 'token' };
  } catch (error) {
    return refusalOf(error);
  }
}

/** Throws what is no fault of this sign-in. */
function refusalOf(error: unknown): OidcRefusal {
  const { cause, code } = error as { cause?: unknown; code?: unknown }; // Read as unknown and compared.
  if (error instanceof AuthorizationResponseError) return { refused: 'denied' };
  if (error instanceof ResponseBodyError && !FAULTS_OF_CLIENT.includes(error.error)) return { refused: 'code' };
  const isOfClient = error instanceof ResponseBodyError || error instanceof WWWAuthenticateChallengeError;
  const isUnavailable = [error, cause].some((each) => each instanceof IssuerUnavailable);
  if (isOfClient || isUnavailable) throw unavailableOf(error);
  return { refused: 'token', ...(typeof code === 'string' && { code }) };
}

async function orUnavailable<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (cause) {
    if (!(cause instanceof IssuerUnavailable)) throw cause;
    throw new AppError('destination_unreachable', 'The issuer cannot be asked now. Try again shortly.', {
      status: 503,
      headers: { 'Retry-After': String(RETRY_SECONDS) },
      cause,
    });
  }
}

/** Takes the same time wherever the first difference is. */
function isSameText(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => createHash('sha256').update(text).digest());
  return one !== undefined && other !== undefined && timingSafeEqual(one, other);
}
