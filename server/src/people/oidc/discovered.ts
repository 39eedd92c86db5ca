import type { ClientAuth, CustomFetch, ServerMetadata } from 'openid-client';
import {
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
} from 'openid-client';
import type { Clock } from '../../kernel/clock.js';
import { parseUrl } from '../../kernel/parse-url.js';
import type { OidcIssuer } from './issuers-file.js';
import { IssuerUnavailable } from './outbound-fetch.js';

/** What the issuers' documents say, asked for when it is needed. Throws `IssuerUnavailable` and nothing else. */
export interface DiscoveredIssuers {
  of(issuer: OidcIssuer): Promise<Configuration>;
}

const KEPT_MS = 3_600_000;
/** So long nobody waits for an issuer that just failed. */
const FAILURE_KEPT_MS = 10_000;
const MS_PER_SECOND = 1_000;
/** By keys that the issuer publishes. `none` is no signature, and HS256 one that every holder of the secret can make. */
const ALGORITHM = /^(?:(?:RS|PS|ES)(?:256|384|512)|EdDSA|Ed25519)$/;
/** What the standard presumes where the document is silent. */
const ALGORITHMS_PRESUMED = ['RS256'];

interface Kept {
  readonly found: Promise<Configuration>;
  untilMs: number;
}

export function createDiscoveredIssuers(options: {
  readonly fetch: CustomFetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}): DiscoveredIssuers {
  const { fetch, clock, timeoutMs } = options;
  const kept = new Map<string, Kept>();

  async function discover(issuer: OidcIssuer): Promise<Configuration> {
    const http = { [customFetch]: fetch, timeout: timeoutMs / MS_PER_SECOND };
    let document: ServerMetadata;
    try {
      document = (
        await discovery(new URL(issuer.issuer), issuer.clientId, undefined, undefined, http)
      ).serverMetadata();
    } catch (error) {
      throw unavailableOf(error);
    }
    const configuration = new Configuration(
      checked(document, issuer),
      issuer.clientId,
      undefined,
      authenticationFor(issuer),
    );
    configuration[customFetch] = fetch;
    configuration.timeout = timeoutMs / MS_PER_SECOND;
    // Without it the library trusts TLS alone for tokens that come from the issuer directly.
    enableNonRepudiationChecks(configuration);
    return configuration;
  }

  return {
    of(issuer) {
      const nowMs = clock.monotonicMs();
      const known = kept.get(issuer.id);
      if (known !== undefined && nowMs < known.untilMs) return known.found;
      // Whoever comes meanwhile waits for the same answer.
      const entry: Kept = { found: discover(issuer), untilMs: nowMs + KEPT_MS };
      kept.set(issuer.id, entry);
      entry.found.catch(() => {
        entry.untilMs = clock.monotonicMs() + FAILURE_KEPT_MS;
      });
      return entry.found;
    },
  };
}

/** The library's errors hold codes, tokens and whole answers, so nothing of them goes on but the word it has for the fault. */
export function unavailableOf(error: unknown): IssuerUnavailable {
  const { cause, code } = error as { cause?: unknown; code?: unknown }; // Read as unknown and compared.
  for (const found of [error, cause]) if (found instanceof IssuerUnavailable) return found;
  return new IssuerUnavailable(`the issuer is not usable (${typeof code === 'string' ? code : 'unknown'})`);
}

/**
 * As much of the document as is used. The library lets some hosts name another issuer than the one asked for, where accounts of
 * every customer of that host would be good; here the two are the same without exception.
 */
function checked(document: ServerMetadata, { issuer }: OidcIssuer): ServerMetadata {
  if (parseUrl(document.issuer)?.href !== issuer) {
    throw new IssuerUnavailable('the document names another issuer');
  }
  for (const name of ['authorization_endpoint', 'token_endpoint', 'jwks_uri'] as const) {
    const url = parseUrl(String(document[name]));
    if (url?.protocol !== 'https:') throw new IssuerUnavailable(`the document has no ${name} by HTTPS`);
  }
  const { id_token_signing_alg_values_supported: announced = ALGORITHMS_PRESUMED } = document;
  const algorithms = Array.isArray(announced) ? announced.filter((name) => ALGORITHM.test(String(name))) : [];
  if (algorithms.length === 0) throw new IssuerUnavailable('the document has no algorithm that is accepted');
  return {
    issuer: document.issuer,
    authorization_endpoint: String(document.authorization_endpoint),
    token_endpoint: String(document.token_endpoint),
    jwks_uri: String(document.jwks_uri),
    id_token_signing_alg_values_supported: algorithms,
    authorization_response_iss_parameter_supported: document.authorization_response_iss_parameter_supported === true,
    ...(Array.isArray(document.token_endpoint_auth_methods_supported) && {
      token_endpoint_auth_methods_supported: document.token_endpoint_auth_methods_supported,
    }),
  };
}

/** HTTP Basic is what the standard presumes. Some issuers read the secret in the form alone, and say so. */
function authenticationFor({ clientSecret }: OidcIssuer): ClientAuth {
  return (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const isBasic = methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
    const authenticate = (isBasic ? ClientSecretBasic : ClientSecretPost)(clientSecret.reveal());
    return authenticate(server, client, body, headers);
  };
}
