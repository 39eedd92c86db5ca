/** Our header names without their prefix. */
const SUFFIXES = ['api-key', 'trace-id', 'tenant-id', 'idempotency-key', 'proxy-url', 'proxy-key'] as const;
type Suffix = (typeof SUFFIXES)[number];

/** What the gate needs of a request's headers. */
export interface OwnHeaders {
  /** The prefix the client used, in upper case; `SVC` if it used none. */
  readonly prefix: string;
  readonly apiKey: string | undefined;
  readonly traceId: string | undefined;
  readonly forwardedFor: string | undefined;
  readonly expect: string | undefined;
  readonly transferEncoding: string | undefined;
  /** Size of the whole block as it arrived. */
  readonly bytes: number;
  readonly hasHost: boolean;
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

const OTHER_NAMES = ['host', 'content-type', 'x-forwarded-for', 'expect', 'transfer-encoding'];
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
    const values = new Map<Known, string>();
    let repeated: string | undefined;
    let prefixRank = prefixes.length;
    let bytes = 0;
    for (let index = 0; index < raw.length; index += 2) {
      const name = raw[index] ?? '';
      const value = raw[index + 1] ?? '';
      bytes += name.length + value.length + SEPARATOR_BYTES;
      if (!lengths.has(name.length)) continue;
      const known = byName.get(name) ?? byName.get(name.toLowerCase());
      if (known === undefined) continue;
      if (known.suffix !== undefined && known.rank < prefixRank) prefixRank = known.rank;
      const earlier = values.get(known);
      if (earlier !== undefined && known.isSingle) repeated = known.name;
      values.set(known, earlier === undefined ? value : `${earlier}, ${value}`);
    }
    return {
      prefix: prefixes[prefixRank] ?? first,
      ...found(values),
      repeated,
      bytes,
    };
  };
}

type Found = Omit<OwnHeaders, 'prefix' | 'repeated' | 'bytes'>;

function found(values: ReadonlyMap<Known, string>): Found {
  const best: { apiKey?: Ranked; traceId?: Ranked } = {};
  let forwardedFor: string | undefined;
  let expect: string | undefined;
  let transferEncoding: string | undefined;
  let hasHost = false;
  for (const [known, value] of values) {
    if (known.name === 'host') hasHost = true;
    else if (known.name === 'x-forwarded-for') forwardedFor = value;
    else if (known.name === 'expect') expect = value;
    else if (known.name === 'transfer-encoding') transferEncoding = value;
    else if (known.suffix === 'api-key') best.apiKey = better(best.apiKey, known.rank, value);
    else if (known.suffix === 'trace-id') best.traceId = better(best.traceId, known.rank, value);
  }
  return { apiKey: best.apiKey?.value, traceId: best.traceId?.value, forwardedFor, expect, transferEncoding, hasHost };
}

interface Ranked {
  readonly rank: number;
  readonly value: string;
}

function better(earlier: Ranked | undefined, rank: number, value: string): Ranked {
  return earlier !== undefined && earlier.rank < rank ? earlier : { rank, value };
}
