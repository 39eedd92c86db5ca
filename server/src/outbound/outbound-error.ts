/** What can become of a request that has no answer. */
export type OutboundFailure =
  /** The request itself cannot be sent: its URL, method or a header. */
  | 'invalid'
  /** The policy does not allow the destination, or its name has no address. The two look alike on purpose. */
  | 'refused'
  /** No place for it within the time: too many requests of this tenant, to this destination or in all. */
  | 'busy'
  /** No connection, or one that ended before the answer did. */
  | 'unreachable'
  /** TLS was spoken, and the certificate is not one for this host by an authority we trust. */
  | 'untrusted'
  /** One of the bounds on time. */
  | 'timeout'
  /** The answer is larger than its bound. */
  | 'too_large'
  /** What came back is not HTTP, or switches to another protocol. */
  | 'bad_answer'
  /** The caller's body threw or is not as long as was said. */
  | 'body_failed'
  /** The caller gave up, or everything is being closed. */
  | 'aborted';

/** Why a request was refused, for the operator: metrics and the security log. Tenants are not told. */
export type RefusalReason =
  | 'url'
  | 'method'
  | 'header'
  | 'scheme'
  | 'userinfo'
  | 'host'
  | 'port'
  | 'address'
  | 'denied'
  | 'not_listed'
  | 'unresolved';

/**
 * Sentences fit for the author of tenant code. They hold nothing of the request, and none tells a name that has a
 * private address from a name that has none: that would let tenants list the hosts of the operator's network.
 */
const SENTENCES: Readonly<Record<OutboundFailure, string>> = {
  invalid: 'The request cannot be sent: its URL, method or a header is not valid.',
  refused:
    'The destination is not allowed or cannot be found. Allowed are HTTPS on port 443 at public addresses, and what the operator lists.',
  busy: 'Too many outbound requests are under way.',
  unreachable: 'The destination cannot be reached, or it closed the connection.',
  untrusted: 'The certificate of the destination is not valid for it.',
  timeout: 'The destination did not answer in time.',
  too_large: 'The answer of the destination is too large.',
  bad_answer: 'The answer of the destination is not valid HTTP.',
  body_failed: 'The body of the request ended too early or is not as long as announced.',
  aborted: 'The request was aborted.',
};

export interface OutboundErrorOptions {
  readonly reason?: RefusalReason;
  /** A code of the platform such as `ECONNREFUSED`, never a text. */
  readonly systemCode?: string | undefined;
  readonly cause?: unknown;
}

/** Safe to show: the message is one of a fixed set. `reason`, `systemCode` and `cause` are for the operator. */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundFailure;
  readonly reason: RefusalReason | undefined;
  readonly systemCode: string | undefined;

  constructor(code: OutboundFailure, options: OutboundErrorOptions = {}) {
    super(SENTENCES[code], options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.reason = options.reason;
    this.systemCode = options.systemCode;
  }
}

export const OUTBOUND_FAILURES = Object.keys(SENTENCES) as readonly OutboundFailure[]; // The record has every one.

/** Faults of the request itself; the others are about where it goes. */
const OF_THE_REQUEST: ReadonlySet<RefusalReason> = new Set(['url', 'method', 'header']);

export function refusedBecause(reason: RefusalReason): OutboundError {
  return new OutboundError(OF_THE_REQUEST.has(reason) ? 'invalid' : 'refused', { reason });
}

/** A failure of the platform, told once in our words. What the platform says about it stays here: it holds addresses. */
export function outboundFailureOf(error: unknown): OutboundError {
  if (error instanceof OutboundError) return error;
  const { code } = error as { code?: unknown }; // Read as unknown and compared.
  const systemCode = typeof code === 'string' ? code : undefined;
  if (systemCode === 'HPE_HEADER_OVERFLOW') return new OutboundError('too_large', { systemCode });
  if (systemCode?.startsWith('HPE_')) return new OutboundError('bad_answer', { systemCode });
  return new OutboundError('unreachable', { systemCode });
}
