import assert from 'node:assert/strict';

/** A question a browser asked before it sent a request of a page to another origin. */
export interface Preflight {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly string[];
}

export interface BrowserFetch {
  readonly fetch: (to: string, init?: RequestInit) => Promise<Response>;
  readonly preflights: Preflight[];
  /** Takes up what an answer of the page's own origin sets. */
  remember(answer: Response): void;
}

const SAFE_METHODS = ['GET', 'HEAD', 'POST'];
const SAFE_HEADERS = ['accept', 'accept-language', 'content-language'];
const SAFE_CONTENT = ['application/x-www-form-urlencoded', 'multipart/form-data', 'text/plain'];
const ALWAYS_READABLE = ['cache-control', 'content-language', 'content-length', 'content-type', 'expires', 'pragma'];

/**
 * What a browser makes of `fetch` in a page, by the Fetch standard and no further than pages need it: cookies go to the page's
 * own origin alone, other origins are asked first and must allow what is sent and read, and the page's policy holds.
 */
export function createBrowserFetch(pageAddress: string): BrowserFetch {
  const { origin } = new URL(pageAddress);
  const cookies = new Map<string, string>();
  const preflights: Preflight[] = [];
  let connectable: string[] = [];

  function remember(answer: Response): void {
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      cookies.set(name, value);
    }
    const policy = answer.headers.get('content-security-policy') ?? '';
    connectable = /connect-src ([^;]+)/.exec(policy)?.[1]?.split(' ') ?? [];
  }

  async function toOwnOrigin(url: URL, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('Cookie', [...cookies].map(([name, value]) => `${name}=${value}`).join('; '));
    return fetch(url, { ...init, headers });
  }

  async function toOther(url: URL, init: RequestInit): Promise<Response> {
    const method = init.method ?? 'GET';
    const headers = new Headers(init.headers);
    const asked = [...headers].filter(([name, value]) => !isSafe(name, value)).map(([name]) => name);
    if (!SAFE_METHODS.includes(method) || asked.length > 0)
      preflights.push(await preflight(origin, url, method, asked));
    headers.set('Origin', origin);
    const answer = await fetch(url, { ...init, headers });
    assertOriginAllowed(origin, answer, `${method} ${url.pathname}`);
    const exposed = listIn(answer, 'access-control-expose-headers');
    const readable = [...answer.headers].filter(([name]) => ALWAYS_READABLE.includes(name) || exposed.includes(name));
    const body = answer.status === 204 ? null : await answer.text();
    return new Response(body, { status: answer.status, headers: readable });
  }

  return {
    preflights,
    remember,
    async fetch(to, init = {}) {
      const url = new URL(to, pageAddress);
      const isOwn = url.origin === origin;
      assert.ok(connectable.includes(isOwn ? "'self'" : url.origin), `the page's policy lets it talk to ${url.origin}`);
      assert.notEqual(init.credentials, 'include', 'no answer for every origin may be read with credentials');
      return isOwn ? toOwnOrigin(url, init) : toOther(url, init);
    },
  };
}

/** Asks another origin whether it takes the request, as a browser does before it sends it. */
async function preflight(origin: string, url: URL, method: string, headers: readonly string[]): Promise<Preflight> {
  const what = `the preflight of ${method} ${url.pathname}`;
  const answer = await fetch(url, {
    method: 'OPTIONS',
    headers: {
      Origin: origin,
      'Access-Control-Request-Method': method,
      ...(headers.length > 0 && { 'Access-Control-Request-Headers': headers.toSorted().join() }),
    },
  });
  assert.ok(answer.ok, `${what} is ${answer.status}`);
  assertOriginAllowed(origin, answer, what);
  const methods = listIn(answer, 'access-control-allow-methods');
  assert.ok(SAFE_METHODS.includes(method) || methods.includes(method.toLowerCase()), `${what} allows ${methods}`);
  const allowed = listIn(answer, 'access-control-allow-headers');
  const refused = headers.filter((name) => !allowed.includes(name));
  assert.deepEqual(refused, [], `${what} allows every header`);
  return { method, path: url.pathname, headers: headers.toSorted() };
}

function assertOriginAllowed(origin: string, answer: Response, what: string): void {
  const allowed = answer.headers.get('access-control-allow-origin') ?? 'nobody';
  assert.ok(allowed === '*' || allowed === origin, `${what} allows ${allowed}`);
}

function isSafe(name: string, value: string): boolean {
  return SAFE_HEADERS.includes(name) || (name === 'content-type' && SAFE_CONTENT.includes(value));
}

function listIn(answer: Response, header: string): string[] {
  return (answer.headers.get(header) ?? '').split(',').map((entry) => entry.trim().toLowerCase());
}
