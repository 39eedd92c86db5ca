import type { TenantBait, TenantProbe } from './tenant-probes-fixture.js';
import { handler, module_ } from './tenant-probes-fixture.js';

const SOON_MS = 1_500;

export const trick = (name: string, body: string, more: Partial<TenantProbe> = {}): TenantProbe => ({
  name,
  code: handler(body),
  ...more,
});

const spelled = ({ port }: TenantBait): readonly TenantProbe[] =>
  Object.entries({
    'with tabs and backslashes': `ht\\ttp:\\\\\\\\127.0.0.1:${port}\\\\hit`,
    'with wide dots': `http://127\\u30020\\u30020\\uFF0E1:${port}/hit`,
    'with the host in escapes': `http://%31%32%37.%30.0.1:${port}/hit`,
    'with a dot behind': `http://127.0.0.1.:${port}/hit`,
    'with the host behind a backslash': `http://127.0.0.1:${port}\\\\@example.test/hit`,
    'with the host behind a fragment': `http://127.0.0.1:${port}#@example.test/hit`,
    'with invisible letters': `http://127.0.0\\u00AD.\\u200B1:${port}/hit`,
    'with line ends in it': `http://127.0.0.1:\\n${String(port).slice(0, 2)}\\r\\n${String(port).slice(2)}/hit`,
    'with zeros and letters mixed': `http://0x7F.0.0.0001:${port}/hit`,
    'with a name that becomes one': `http://\\u24DBocalhost:${port}/hit`,
    'with escapes of dots in the path': `http://127.0.0.1:${port}/a/%2e%2e/.%2E/hit`,
    'with a zone': `http://[::1%25lo]:${port}/hit`,
  }).map(([name, url]) =>
    trick(
      `an address ${name}`,
      `return await (await fetch('${url}')).text()`,
      name === 'with a zone' ? { isRare: true } : {},
    ),
  );

const requests = ({ port }: TenantBait): readonly TenantProbe[] => [
  trick(
    'a message to be sent later',
    `navigator.sendBeacon('http://127.0.0.1:${port}/hit', 'x'); await scheduler.wait(50); return 'sent'`,
    {
      isRare: true,
    },
  ),
  trick(
    'a request while text is rewritten',
    `const seen = []; await new HTMLRewriter().on('*', { async element() { seen.push(await (await fetch('http://127.0.0.1:${port}/hit')).text()) } }).transform(new Response('<p>x</p>')).text(); return seen`,
  ),
  trick(
    'a stored answer',
    `const cache = await caches.open('x'); return String(await cache.match('http://127.0.0.1:${port}/hit'))`,
    {
      isRare: true,
    },
  ),
  trick(
    'a body that never ends',
    `return (await fetch('https://example.test/', { method: 'POST', duplex: 'half', body: new ReadableStream({ async pull(controller) { await scheduler.wait(1); controller.enqueue(new Uint8Array(100)) } }) })).status`,
    {
      deadlineMs: SOON_MS,
      isRare: true,
    },
  ),
  trick(
    'a body that breaks off',
    `let n = 0; return (await fetch('http://127.0.0.1:${port}/hit', { method: 'POST', body: new ReadableStream({ pull(controller) { n += 1; if (n > 3) controller.error(new Error('x')); else controller.enqueue(new Uint8Array(10)) } }) })).status`,
    {
      isRare: true,
    },
  ),
  trick(
    '20,000 headers',
    `const headers = new Headers(); for (let i = 0; i < 20000; i += 1) headers.append('x' + i, 'y'.repeat(400)); return (await fetch('https://example.test/', { headers })).status`,
    {
      isRare: true,
    },
  ),
  trick(
    'headers that end their line in another alphabet',
    `const tried = []; for (const value of ['a\\u010D\\u010Ab: c', 'a\\u2028b', 'a\\u0085b', 'a\\r\\nb: c', 'a\\0b', '\\uD800'])
       for (const [name, text] of [['x', value], [value, 'x']]) try { tried.push((await fetch('https://example.test/', { headers: { [name]: text } })).status) } catch (error) { tried.push('refused') } return tried`,
    { isRare: true },
  ),
  trick(
    'headers about the connection',
    `return await (await fetch('http://127.0.0.1:${port}/hit', { method: 'POST', body: 'GET /x HTTP/1.1\\r\\n\\r\\n', headers: { 'Transfer-Encoding': 'chunked', 'Content-Length': '0', Connection: 'keep-alive, x', 'Proxy-Connection': 'x', TE: 'trailers', Expect: '100-continue' } })).text()`,
  ),
];

const redirects = ({ port }: TenantBait): readonly TenantProbe[] => [
  trick(
    'redirects in a circle',
    `return await (await fetch('https://example.test/leads?to=' + encodeURIComponent('/leads?to=/leads'))).text()`,
    {
      isRare: true,
    },
  ),
  ...[
    `http://127.0.0.1:${port}/hit`,
    'file:///etc/passwd',
    'data:text/plain,x',
    '//127.0.0.1:1/',
    'http://user:victim@example.test/',
  ].map((to, at) =>
    trick(
      `a redirect ${['to loopback', 'to a file', 'to text', 'without a scheme', 'with a name'][at]}`,
      `return await (await fetch('https://example.test/leads?to=' + encodeURIComponent('${to}'))).text()`,
      at === 0 ? {} : { isRare: true },
    ),
  ),
];

const clientRequests = ({ port }: TenantBait): readonly TenantProbe[] => [
  trick(
    'the client led to another host',
    `return JSON.stringify(await req.client.request('GET', '@127.0.0.1:${port}/hit'))`,
  ),
  trick(
    'the client led to another host by its port',
    `return JSON.stringify(await req.client.request('GET', '.victim.test:1/x'))`,
    {
      isRare: true,
    },
  ),
  trick(
    'the client with methods that are none',
    `const tried = []; for (const method of ['GET /x HTTP/1.1\\r\\nHost: a', 'get', 'CONNECT', 'TRACE', 'P\\u0130NG', '', 'GET\\0', { toString: () => 'PUT' }]) try { await req.client.request(method, '/tokens') ; tried.push('sent') } catch (error) { tried.push(error.message) } return tried`,
    { isRare: true },
  ),
  trick(
    'the client with paths that lead out',
    `const tried = []; for (const path of ['/../../x', '/%2e%2e/%2e%2e/x', '/tokens/..%2f..%2fx', '/\\\\x', '//127.0.0.1:${port}/hit', '/x HTTP/1.1\\r\\nSVC-API-KEY: victim\\r\\n', '/x?a\\0b', '/x#@']) try { tried.push(await req.client.request('GET', path)) } catch (error) { tried.push(error.body?.path ?? error.message) }
     return tried.filter((path) => /[\\r\\n]|^\\/\\.\\./.test(path)).map(() => 'CANARY')`,
    { isRare: true },
  ),
  trick(
    'the client as a web socket',
    `const { env } = ${module_('cloudflare:workers')}; const answer = await env.API.fetch('http://127.0.0.1:${port}/hit', { headers: { Upgrade: 'websocket' } }); answer.webSocket?.accept(); return answer.webSocket ? 'CANARY' : answer.status`,
    { isRare: true },
  ),
  trick(
    'the client on behalf of another, by its body',
    `return JSON.stringify(await req.client.request('POST', '/tokens', { toJSON() { return { application_id: 'other', tenant_id: 'other' } } }))`,
    { isRare: true },
  ),
];

/** Requests that two readers may understand differently, or that nobody could stand. */
export function requestTricks(bait: TenantBait): readonly TenantProbe[] {
  return [...spelled(bait), ...requests(bait), ...redirects(bait), ...clientRequests(bait)];
}
