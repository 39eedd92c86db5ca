/** Our header names without their prefix. */
const SUFFIXES = ['api-key', 'trace-id', 'tenant-id', 'idempotency-key', 'proxy-url', 'proxy-key'] as const;
type Suffix = (typeof SUFFIXES)[number];

/** What the gate needs of a request's headers. */
export interface OwnHeaders {
  /** The prefix the client used, in upper case; `SVC` if it used none. */
  readonly prefix: string;
  readonly apiKey: string | undefined;
  readonly traceId: string | undefined;
  /** The tenant a user means; a key has its own. */
  readonly tenantId: string | undefined;
  /** As sent; it is looked at only where it counts. */
  readonly idempotencyKey: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly expect: string | undefined;
  readonly transferEncoding: string | undefined;
  readonly contentLength: string | undefined;
  /** Size of the whole block as it arrived. */
  readonly bytes: number;
  readonly hasHost: boolean;
  /** The parser stops reading behind such a request, so its answer has to be the last one. */
  readonly hasUpgrade: boolean;
  /** A header that may come only once and came again: its value would be a guess. */
  readonly repeated: string | undefined;
}

export type ReadOwnHeaders = (rawHeaders: readonly string[]) => OwnHeaders;

interface Known {
  readonly name: string;
  readonly suffix: Suffix | undefined;
  /** Of two spellings the lower rank wins. */
  readonly rank: number;
  readonly isSingle: boolean;
}

const OTHER_NAMES = [
  'host',
  'content-type',
  'x-forwarded-for',
  'expect',
  'transfer-encoding',
  'content-length',
  'upgrade',
];
/** What every header takes on the wire besides its name and value. */
const SEPARATOR_BYTES = 4;
const SINGLE = new Set(['host', 'content-type', 'api-key']);

/**
 * Reads the few headers that matter in one pass over what arrived, under every accepted prefix. The object of all
 * headers that Node would build is made only for the routes that need it.
 */
export function createOwnHeaders(prefixes: readonly string[]): ReadOwnHeaders {
  const byName = new Map<string, Known>();
  for (const name of OTHER_NAMES) byName.set(name, { name, suffix: undefined, rank: 0, isSingle: SINGLE.has(name) });
  prefixes.forEach((prefix, rank) => {
    for (const suffix of SUFFIXES) {
      const name = `${prefix.toLowerCase()}-${suffix}`;
      byName.set(name, { name, suffix, rank, isSingle: SINGLE.has(suffix) });
    }
  });
  const lengths = new Set([...byName.keys()].map((name) => name.length));
  const [first = 'SVC'] = prefixes;

  return (raw) => {
    const seen: Known[] = [];
    let bytes = 0;
    let repeated: string | undefined;
    let prefixRank = prefixes.length;
    let apiKey: string | undefined;
    let apiKeyRank = prefixes.length;
    let traceId: string | undefined;
    let traceIdRank = prefixes.length;
    let tenantId: string | undefined;
    let tenantIdRank = prefixes.length;
    let idempotencyKey: string | undefined;
    let idempotencyKeyRank = prefixes.length;
    let forwardedFor: string | undefined;
    let expect: string | undefined;
    let transferEncoding: string | undefined;
    let contentLength: string | undefined;
    let hasHost = false;
    let hasUpgrade = false;
    for (let index = 0; index < raw.length; index += 2) {
      const name = raw[index] ?? '';
      const value = raw[index + 1] ?? '';
      bytes += name.length + value.length + SEPARATOR_BYTES;
      if (!lengths.has(name.length)) continue;
      const known = byName.get(name) ?? byName.get(name.toLowerCase());
      if (known === undefined) continue;
      const isAgain = seen.includes(known);
      if (!isAgain) seen.push(known);
      else if (known.isSingle) repeated = known.name;
      if (known.suffix !== undefined) {
        if (known.rank < prefixRank) prefixRank = known.rank;
        if (known.suffix === 'api-key' && known.rank < apiKeyRank) {
          apiKey = value;
          apiKeyRank = known.rank;
        } else if (known.suffix === 'trace-id' && known.rank < traceIdRank) {
          traceId = value;
          traceIdRank = known.rank;
        } else if (known.suffix === 'trace-id' && isAgain && known.rank === traceIdRank) {
          // Two of them are none: joined they are not a trace id, and a new one is made.
          traceId = undefined;
        } else if (known.suffix === 'tenant-id' && known.rank <= tenantIdRank) {
          // Two of them are joined, and no tenant has such an id.
          tenantId = isAgain ? `${tenantId}, ${value}` : value;
          tenantIdRank = known.rank;
        } else if (known.suffix === 'idempotency-key' && known.rank <= idempotencyKeyRank) {
          // Two of them are refused where they count: joined they are no key.
          idempotencyKey = isAgain ? `${idempotencyKey}, ${value}` : value;
          idempotencyKeyRank = known.rank;
        }
      } else if (known.name === 'host') hasHost = true;
      else if (known.name === 'content-length') contentLength = value;
      else if (known.name === 'upgrade') hasUpgrade = true;
      else if (known.name === 'x-forwarded-for') forwardedFor = isAgain ? `${forwardedFor}, ${value}` : value;
      else if (known.name === 'expect') expect = isAgain ? `${expect}, ${value}` : value;
      else if (known.name === 'transfer-encoding') transferEncoding = isAgain ? `${transferEncoding}, ${value}` : value;
    }
    const prefix = prefixes[prefixRank] ?? first;
    return {
      prefix,
      apiKey,
      traceId,
      tenantId,
      idempotencyKey,
      forwardedFor,
      expect,
      transferEncoding,
      contentLength,
      hasHost,
      hasUpgrade,
      repeated,
      bytes,
    };
  };
}
