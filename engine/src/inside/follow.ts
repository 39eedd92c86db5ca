/**
 * The engine's own fetch takes cookies along when a redirect leads to another origin. Here redirects are followed as other
 * platforms do: what identifies the caller stays with the origin it was meant for. Each hop is judged outside like any request.
 */
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const HOPS_MAX = 20;
const OF_ONE_ORIGIN = ['Authorization', 'Cookie', 'Proxy-Authorization'];
const OF_A_BODY = ['Content-Type', 'Content-Length', 'Content-Encoding', 'Content-Language', 'Content-Location'];

interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: ArrayBuffer | null;
}

export function createFetch(real: typeof fetch): typeof fetch {
  return async (input, init) => {
    const asked = new Request(input, init);
    if (asked.redirect !== 'follow') return real(asked);
    const body = asked.body === null ? null : await asked.arrayBuffer();
    let hop: Hop = { url: new URL(asked.url), method: asked.method, headers: new Headers(asked.headers), body };
    for (let hops = 0; hops <= HOPS_MAX; hops += 1) {
      const { url, method, headers } = hop;
      const response = await real(url, { method, headers, body: hop.body, redirect: 'manual', signal: asked.signal });
      const next = nextHop(hop, response);
      if (!next) return hops === 0 ? response : arrived(response, url);
      hop = next;
    }
    throw new TypeError('fetch failed: too many redirects');
  };
}

function nextHop({ url, method, headers, body }: Hop, { status, headers: answered }: Response): Hop | undefined {
  const location = REDIRECTS.has(status) ? answered.get('Location') : null;
  if (location === null) return undefined;
  const next = new URL(location, url);
  const kept = new Headers(headers);
  const isRead = status === 303 ? method !== 'HEAD' && method !== 'GET' : status < 303 && method === 'POST';
  if (isRead) for (const name of OF_A_BODY) kept.delete(name);
  if (next.origin !== url.origin) for (const name of OF_ONE_ORIGIN) kept.delete(name);
  return { url: next, method: isRead ? 'GET' : method, headers: kept, body: isRead ? null : body };
}

function arrived(response: Response, { href }: URL): Response {
  return Object.defineProperties(response, { url: { value: href }, redirected: { value: true } });
}
