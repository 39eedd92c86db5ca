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
  /** As it is written in answers; empty for a name without one. */
  readonly prefix: string;
  readonly isSingle: boolean;
  /** The pass that saw it last: a list of what was seen would have to be made for every request. */
  seenIn: number;
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
/** Of what has not come yet: every rank wins over it. */
const NO_RANK = 0x3fff_ffff;

/**
 * Reads the few headers that matter in one pass over what arrived, under every accepted prefix. The object of all
 * headers that Node would build is made only for the routes that need it.
 */
export function createOwnHeaders(prefixes: readonly string[]): ReadOwnHeaders {
  const byName = knownNames(prefixes);
  const lengths = new Set([...byName.keys()].map((name) => name.length));
  const [first = 'SVC'] = prefixes;
  let pass = 0;

  return (raw) => {
    const found = new Reading(first);
    pass += 1;
    for (let index = 0; index < raw.length; index += 2) {
      const name = raw[index] ?? '';
      const value = raw[index + 1] ?? '';
      found.bytes += name.length + value.length + SEPARATOR_BYTES;
      if (!lengths.has(name.length)) continue;
      const known = byName.get(name) ?? byName.get(name.toLowerCase());
      if (known === undefined) continue;
      const isAgain = known.seenIn === pass;
      known.seenIn = pass;
      if (isAgain && known.isSingle) found.repeated = known.name;
      if (known.suffix === undefined) found.takeOther(known.name, value, isAgain);
      else found.takeOwn(known, value, isAgain);
    }
    return found;
  };
}

function knownNames(prefixes: readonly string[]): Map<string, Known> {
  const byName = new Map<string, Known>();
  for (const name of OTHER_NAMES) {
    byName.set(name, { name, suffix: undefined, rank: 0, prefix: '', isSingle: SINGLE.has(name), seenIn: 0 });
  }
  prefixes.forEach((prefix, rank) => {
    for (const suffix of SUFFIXES) {
      const name = `${prefix.toLowerCase()}-${suffix}`;
      byName.set(name, { name, suffix, rank, prefix, isSingle: SINGLE.has(suffix), seenIn: 0 });
    }
  });
  return byName;
}

/** What was found so far, and under which rank. It is the result too: a request has one object for its headers. */
class Reading implements OwnHeaders {
  prefix: string;
  apiKey: string | undefined = undefined;
  traceId: string | undefined = undefined;
  tenantId: string | undefined = undefined;
  idempotencyKey: string | undefined = undefined;
  forwardedFor: string | undefined = undefined;
  expect: string | undefined = undefined;
  transferEncoding: string | undefined = undefined;
  contentLength: string | undefined = undefined;
  bytes = 0;
  hasHost = false;
  hasUpgrade = false;
  repeated: string | undefined = undefined;
  #prefixRank = NO_RANK;
  #apiKeyRank = NO_RANK;
  #traceIdRank = NO_RANK;
  #tenantIdRank = NO_RANK;
  #idempotencyKeyRank = NO_RANK;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  takeOwn({ suffix, rank, prefix }: Known, value: string, isAgain: boolean): void {
    if (rank < this.#prefixRank) {
      this.#prefixRank = rank;
      this.prefix = prefix;
    }
    if (suffix === 'api-key' && rank < this.#apiKeyRank) {
      this.apiKey = value;
      this.#apiKeyRank = rank;
    } else if (suffix === 'trace-id' && rank < this.#traceIdRank) {
      this.traceId = value;
      this.#traceIdRank = rank;
    } else if (suffix === 'trace-id' && isAgain && rank === this.#traceIdRank) {
      // Two of them are none: joined they are not a trace id, and a new one is made.
      this.traceId = undefined;
    } else if (suffix === 'tenant-id' && rank <= this.#tenantIdRank) {
      // Two of them are joined, and no tenant has such an id.
      this.tenantId = isAgain ? `${this.tenantId}, ${value}` : value;
      this.#tenantIdRank = rank;
    } else if (suffix === 'idempotency-key' && rank <= this.#idempotencyKeyRank) {
      // Two of them are refused where they count: joined they are no key.
      this.idempotencyKey = isAgain ? `${this.idempotencyKey}, ${value}` : value;
      this.#idempotencyKeyRank = rank;
    }
  }

  takeOther(name: string, value: string, isAgain: boolean): void {
    if (name === 'host') this.hasHost = true;
    else if (name === 'content-length') this.contentLength = value;
    else if (name === 'upgrade') this.hasUpgrade = true;
    else if (name === 'x-forwarded-for') this.forwardedFor = isAgain ? `${this.forwardedFor}, ${value}` : value;
    else if (name === 'expect') this.expect = isAgain ? `${this.expect}, ${value}` : value;
    else if (name === 'transfer-encoding') {
      this.transferEncoding = isAgain ? `${this.transferEncoding}, ${value}` : value;
    }
  }
}
