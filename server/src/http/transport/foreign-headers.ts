/**
 * Headers that somebody else chose, for an answer that comes from our origin: nothing in them may act there. What belongs to
 * the connection, to the whole origin or to other origins stays away, and so does what a proxy in front or a cache would act
 * on. Clients that follow an address send their key along, so none is given. A browser that shows the answer takes it for
 * that of a stranger.
 */
const LEFT_OUT = new Set([
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'http2-settings'],
  ...['content-length', 'content-encoding', 'date', 'server'],
  ...['set-cookie', 'set-cookie2', 'clear-site-data', 'service-worker-allowed', 'strict-transport-security', 'alt-svc'],
  ...['content-security-policy', 'content-security-policy-report-only', 'x-content-type-options', 'www-authenticate'],
  ...['nel', 'report-to', 'reporting-endpoints', 'origin-agent-cluster', 'public-key-pins', 'refresh', 'link'],
  ...[
    'public-key-pins-report-only',
    'expect-ct',
    'authentication-info',
    'shared-storage-write',
    'observe-browsing-topics',
  ],
  ...['location', 'cache-control', 'expires', 'age', 'pragma', 'cdn-cache-control', 'x-sendfile', 'x-reproxy-url'],
  ...['timing-allow-origin', 'sourcemap', 'x-sourcemap', 'x-dns-prefetch-control', 'speculation-rules'],
  ...['set-login', 'secure-session-registration', 'use-as-dictionary', 'accept-ch', 'critical-ch', 'edge-control'],
  ...['x-reproxy-file', 'activate-storage-access'],
]);
/** Those of the last two lines are orders to a proxy in front of us. */
const LEFT_OUT_STARTS = [
  ...['access-control-', 'proxy-', 'cross-origin-', 'ratelimit'],
  ...['sec-session-', 'attribution-reporting-', 'ad-auction-'],
  ...['x-accel-', 'x-lighttpd-', 'x-litespeed-', 'surrogate-', 'cloudflare-', 'netlify-'],
  ...['x-forwarded-', 'x-original-', 'x-rewrite-'],
];
const LEFT_OUT_START = new RegExp(`^(?:${LEFT_OUT_STARTS.join('|')})`);
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/;
/** One character for each byte, and no control character but the tab. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const BYTES_MAX = 16 * 1024;
const NONE: ReadonlySet<string> = new Set();

/**
 * As a flat list of names and values. Left out is what may not pass, and undefined what no header can be. `kept` are names that
 * pass all the same, because they are true of the body that goes with them.
 */
export function passedHeaders(
  pairs: readonly (readonly [string, string])[],
  ownPrefixes: readonly string[],
  kept: ReadonlySet<string> = NONE,
): string[] | undefined {
  const passed = ['Content-Security-Policy', 'sandbox'];
  const starts = headerStartsOf(ownPrefixes);
  let bytes = 0;
  for (const [name, value] of pairs) {
    bytes += name.length + value.length;
    if (!NAME.test(name) || !VALUE.test(value) || bytes > BYTES_MAX) return undefined;
    const lower = name.toLowerCase();
    if (kept.has(lower) || mayPass(lower, starts)) passed.push(name, value);
  }
  return passed;
}

function mayPass(name: string, starts: readonly string[]): boolean {
  for (const start of starts) if (name.startsWith(start)) return false;
  return !LEFT_OUT.has(name) && !LEFT_OUT_START.test(name);
}

const startsOf = new WeakMap<readonly string[], readonly string[]>();

/** How the names of our headers begin in lower case, by the prefixes of the settings: made once. */
export function headerStartsOf(prefixes: readonly string[]): readonly string[] {
  const known = startsOf.get(prefixes);
  if (known) return known;
  const starts = prefixes.map((prefix) => `${prefix.toLowerCase()}-`);
  startsOf.set(prefixes, starts);
  return starts;
}
