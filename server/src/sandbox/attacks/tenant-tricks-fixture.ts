import type { TenantBait, TenantProbe } from './tenant-probes-fixture.js';
import { handler, heard, module_ } from './tenant-probes-fixture.js';

/**
 * More code that tries to get out, of other kinds: it changes what our own code beside it stands on, gives values that act while
 * they are read, acts after its answer, and spells addresses so that two readers may differ.
 */
const SOON_MS = 1_500;

const trick = (name: string, body: string, more: Partial<TenantProbe> = {}): TenantProbe => ({
  name,
  code: handler(body),
  ...more,
});
/** Runs while the code is loaded, before the first request is read. */
const prepared = (name: string, before: string, body: string, more: Partial<TenantProbe> = {}): TenantProbe => ({
  name,
  code: `${before}; ${handler(body)}`,
  isRare: true,
  ...more,
});
const throws = (name: string, body: string): TenantProbe => ({
  name,
  code: `module.exports = async () => { ${body} };`,
  isRare: true,
});
/** Puts a frame of its own in place of the one that our code has made. */
const answers = (name: string, head: string, body: string): TenantProbe =>
  prepared(
    name,
    `const encoder = new TextEncoder();
     const forged = () => { const head = encoder.encode(${head}); const body = encoder.encode(${body});
       const frame = new Uint8Array(4 + head.length + body.length); new DataView(frame.buffer).setUint32(0, head.length);
       frame.set(head, 4); frame.set(body, 4 + head.length); return new Response(frame, { headers: { by: 'loader' } }) };
     Object.defineProperty(Response.prototype, 'then', { configurable: true,
       get() { delete Response.prototype.then; return (resolve) => resolve(forged()) } })`,
    'return 1',
  );

const forgeries: readonly TenantProbe[] = [
  answers(
    'a frame of its own that changes prototypes',
    `'{"outcome":"thrown","__proto__":{"polluted":1},"errors":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}}'`,
    `'{"__proto__":{"polluted":1}}'`,
  ),
  answers(
    'a frame of its own with what is no text',
    `'{"outcome":"thrown","kind":{"a":1},"errors":{"a":[{"toString":1}],"b":7},"console":[{"level":{},"text":[1]},7,null]}'`,
    `''`,
  ),
  answers('a frame nested without end', `'{"outcome":"returned"}'`, `'['.repeat(1e6) + ']'.repeat(1e6)`),
  answers(
    'a response nested without end',
    `'{"outcome":"thrown","kind":"CustomHttpResponseError","response":' + '{"a":'.repeat(1e5) + '1' + '}'.repeat(1e5) + '}'`,
    `''`,
  ),
  answers(
    'a frame that claims to come from the loader',
    `'{"outcome":"failed","message":"x","id":1,"to":"api"}'`,
    `''`,
  ),
  prepared(
    'a then on every object',
    `Object.defineProperty(Object.prototype, 'then', { configurable: true, get() { return undefined }, set() {} });
     Promise.prototype.then = new Proxy(Promise.prototype.then, { apply(target, self, args) { return Reflect.apply(target, self, args) } })`,
    'return JSON.stringify(Object.keys(req))',
  ),
  prepared(
    'setters on every object',
    `for (const name of ['outcome', 'console', 'errors', 'id', 'to', 'applicationId', 'API', 'LOADER']) Object.defineProperty(Object.prototype, name,
       { configurable: true, get() { return 'polluted' }, set(value) { globalThis.kept = [this, value] } })`,
    'return typeof globalThis.kept',
  ),
  prepared(
    'another JSON',
    `const { stringify } = JSON; JSON.stringify = (value) => stringify({ ...value, outcome: 'returned', id: 1, to: 'api' }) + '}{'`,
    'return 1',
  ),
  prepared(
    'another encoder',
    `TextEncoder.prototype.encode = () => new Uint8Array(new SharedArrayBuffer(1 << 20))`,
    'return "x"',
  ),
  prepared('lengths that lie', `DataView.prototype.setUint32 = function () { return undefined }`, 'return "x"'),
  prepared(
    'bytes that are written elsewhere',
    `Uint8Array.prototype.set = function (from, at) { for (let i = 0; i < 4; i += 1) this[i] = 0xff }`,
    'return "x"',
  ),
  prepared(
    'iterators that add members',
    `const own = Array.prototype[Symbol.iterator]; Array.prototype[Symbol.iterator] = function* () { yield* own.call(this); yield ['svc-api-key', 'victim'] }`,
    'return await (await fetch("https://example.test/x")).text()',
  ),
];

const reached: readonly TenantProbe[] = [
  trick(
    'functions and objects on the stack',
    `Error.prepareStackTrace = (error, frames) => frames; const frames = new Error('x').stack;
     const found = frames.flatMap((frame) => [frame.getThis(), frame.getFunction()]).filter((each) => each && each !== globalThis);
     const open = found.some((each) => 'LOADER' in Object(each) || 'OUTSIDE' in Object(each.env));
     return open || frames.some((frame) => /loader/.test(String(frame.getFileName()))) ? 'CANARY' : 'only its own'`,
    { isRare: true },
  ),
  prepared(
    'the real require',
    `const { call } = Function.prototype; const kept = []; Function.prototype.call = function (self, ...args) { kept.push([this, self]); return Reflect.apply(this, self, args) };
     try { require('url') } catch {} Function.prototype.call = call`,
    `const tried = []; for (const [real, scope] of kept) for (const name of ['fs', 'workerd:unsafe', 'cloudflare-internal:env', 'loader.js', 'package-texts'])
       try { const found = Reflect.apply(real, scope, [name]); tried.push(name === 'fs' ? found.readFileSync('/etc/passwd', 'utf8') : 'CANARY ' + name) } catch (error) { tried.push(error.message) }
     return tried`,
  ),
  prepared(
    'a require that knows every name',
    `Set.prototype.has = () => true; Object.hasOwn = () => true`,
    `const tried = []; for (const name of ['fs', 'child_process', 'workerd:unsafe', 'loader.js', '../loader.js', 'file:///etc/passwd'])
       try { const found = require(name); tried.push(name === 'fs' ? found.readFileSync('/etc/passwd', 'utf8') : Object.keys(found).length) } catch (error) { tried.push(error.message) }
     return tried`,
  ),
  trick(
    'listeners in place of our own function',
    `if (globalThis.was) return 'asked again'; globalThis.was = 1;
     for (const type of ['fetch', 'scheduled', 'trace', 'tail', 'message', 'unhandledrejection', 'error']) try { addEventListener(type, (event) => event.respondWith?.(new Response('CANARY'))) } catch {}
     return 'listens'`,
    { runs: 2, isRare: true },
  ),
  trick(
    'every inner module by its name',
    `const found = []; for (const name of ['cloudflare-internal:env', 'cloudflare-internal:sockets', 'cloudflare-internal:http', 'cloudflare-internal:filesystem', 'cloudflare-internal:tracing', 'node-internal:process', 'node-internal:module', 'node-internal:util', 'node-internal:streams', 'workerd:rtti', 'workerd:unsafe-eval', 'workerd:debug', 'internal:unsafe-eval', 'internal:disk', 'pyodide-internal:setup', 'kj:fs', 'capnp:/workerd/workerd.capnp'])
       try { await import(name); found.push('CANARY ' + name) } catch {} return found`,
    { isRare: true },
  ),
  trick(
    'every inner module by the process',
    `const names = ['workerd:unsafe', 'cloudflare-internal:env', 'cloudflare-internal:sockets', 'node-internal:process', 'loader.js', 'package-texts', 'internal:unsafe-eval'];
     return names.flatMap((name) => { try { return process.getBuiltinModule(name) ? 'CANARY ' + name : [] } catch { return [] } })`,
    { isRare: true },
  ),
  trick(
    'files of the bundle',
    `const fs = ${module_('node:fs')}; const names = ['/bundle', '/bundle/..', '/dev/fd', '/tmp/../../e'].flatMap((path) => { try { return fs.readdirSync(path) } catch { return [] } });
     return names.some((name) => /loader|package-texts|config\\.bin|workerd/.test(name)) ? 'CANARY' : names`,
    { isRare: true },
  ),
  trick(
    'files by strange addresses',
    `const fs = ${module_('node:fs')}; const tried = []; for (const path of [new URL('file:///etc/passwd'), new URL('file:///tmp/%2e%2e/etc/passwd'), Buffer.from('/etc/passwd'), '/tmp/../etc/passwd', '//etc/passwd', '/dev/../etc/passwd', '/proc/self/root/etc/passwd'])
       try { tried.push(fs.readFileSync(path, 'utf8')) } catch (error) { tried.push(error.code) } return tried`,
    { isRare: true },
  ),
  trick(
    'another environment by the engine',
    `const { withEnv, exports, env } = ${module_('cloudflare:workers')};
     const inside = withEnv({ LOADER: env.API, API: env.API, applicationId: 'other' }, () => Object.keys(env));
     return JSON.stringify([inside, Object.keys(exports)].flat().filter((name) => /Outside|OUTSIDE/.test(name)).map(() => 'CANARY'))`,
    { isRare: true },
  ),
  trick(
    'methods of the binding that are not for it',
    `const { env, RpcTarget } = ${module_('cloudflare:workers')}; const tried = [];
     class Mine extends RpcTarget { see(value) { return value } }
     for (const ask of [() => env.API.send('outside', new Request('http://api/')), () => env.API.fetch.call({}, 'http://api/'), () => env.API.take(), () => env.API.answer(1, new Mine()), () => env.API.dup().env, () => env.API.__proto__.constructor.name, () => env.API['#env'], () => structuredClone(env.API)])
       try { tried.push(String(await ask())) } catch (error) { tried.push(error.message) }
     return tried.some((text) => /LOADER|OUTSIDE/.test(text)) ? 'CANARY' : tried`,
    { isRare: true },
  ),
];

const poisoned: readonly TenantProbe[] = [
  trick(
    'a value whose members act',
    `return { get raw() { return process.env.VAULT_SECRET ?? 'none' }, toJSON: undefined }`,
    {
      isRare: true,
    },
  ),
  trick(
    'a value that is another each time',
    `let n = 0; return { toJSON() { n += 1; return n === 1 ? { toJSON: () => process.env.VAULT_SECRET } : n } }`,
    { isRare: true },
  ),
  trick(
    'a value with traps',
    `return new Proxy({}, { ownKeys: () => ['__proto__', 'constructor', 'toJSON'], getOwnPropertyDescriptor: (_, name) => ({ value: { polluted: 1, name }, enumerable: true, configurable: true }), get: (_, name) => name === 'then' || name === 'toJSON' ? undefined : { polluted: 1 } })`,
    { isRare: true },
  ),
  trick('a thenable that answers twice', `return { then(resolve) { resolve({ a: 1 }); resolve({ a: 2 }); throw 3 } }`, {
    isRare: true,
  }),
  trick('an answer in pieces that never ends', `return (async function* () { for (;;) yield 1 })()`, { isRare: true }),
  throws(
    'an error whose members act',
    `const error = new Error('x'); for (const name of ['message', 'name', 'stack', 'cause', 'data', 'response']) Object.defineProperty(error, name, { get() { return name === 'message' ? 'y'.repeat(5e6) : process.env.VAULT_SECRET } }); throw error`,
  ),
  throws(
    'an error that cannot be touched',
    `throw new Proxy(new Error('x'), new Proxy({}, { get: () => () => { throw new Proxy({}, { get() { throw 1 } }) } }))`,
  ),
  throws(
    'a value that is no text',
    `throw { [Symbol.toPrimitive]: () => ({}), toString: null, [Symbol.for('strongroom.error')]: { toString() { throw 1 } } }`,
  ),
  throws(
    'an error of a kind with a forged response',
    `throw { [Symbol.for('strongroom.error')]: 'CustomHttpResponseError', response: { status: '200 OK\\r\\nSet-Cookie: a', headers: { '__proto__': { polluted: 1 }, 'a\\r\\nb': 'c\\r\\nd' }, body: { toJSON() { return { constructor: { prototype: { polluted: 1 } } } } } } }`,
  ),
  trick(
    'lines that are no lines',
    `const { push } = Array.prototype; Array.prototype.push = function (...values) { return push.apply(this, values.map(() => ({ level: { toString: 1 }, text: { a: 'x'.repeat(1e5) } }))) };
     for (let i = 0; i < 50; i += 1) console.log('x'); return 1`,
    { isRare: true },
  ),
];

const afterwards: readonly TenantProbe[] = [
  trick(
    'requests after the answer',
    `const { waitUntil } = ${module_('cloudflare:workers')}; waitUntil((async () => { for (let i = 0; i < 50; i += 1) { await scheduler.wait(1); await fetch('https://late.test/').catch(() => {}) } })()); return 'answered'`,
    { runs: 4, isRare: true },
  ),
  trick(
    'answers to requests of a former run',
    `const before = globalThis.asked; globalThis.asked = req.client.request('GET', '/tokens?run=' + Math.random()); if (before) return [await Promise.race([before.catch(String), scheduler.wait(300)])]; return 'asked'`,
    { runs: 3, isRare: true },
  ),
  trick(
    'timers, messages and the end of objects after the answer',
    `globalThis.late ??= []; const asks = () => fetch('https://late.test/').catch(() => {});
     setTimeout(asks, 1); queueMicrotask(asks); setInterval(asks, 1); process.nextTick(asks); setImmediate(asks); new FinalizationRegistry(asks).register({}, 1);
     const { port1, port2 } = new MessageChannel(); port2.onmessage = asks; port1.postMessage(1); return 'answered'`,
    { runs: 3, isRare: true },
  ),
  trick('the end of its isolate', `(${module_('cloudflare:workers')}).abortIsolate('x'); return 'still there'`, {
    runs: 2,
    isRare: true,
  }),
  trick(
    'its own function from within',
    `const { exports } = ${module_('cloudflare:workers')}; globalThis.depth = (globalThis.depth ?? 0) + 1; if (globalThis.depth > 200) return 'deep';
     return (await (await exports.default.fetch('http://x/', { method: 'POST', body: '{"client_names":["client"],"keeps_console":true}' })).text()).length`,
    { isRare: true },
  ),
];

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

const leftovers: readonly TenantProbe[] = [
  trick(
    'shared memory of wasm',
    `const tried = []; for (const make of [() => new WebAssembly.Memory({ initial: 1, maximum: 65536, shared: true }), () => new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 2, 7, 1, 1, 97, 1, 98, 3, 127, 0])), () => WebAssembly.instantiateStreaming(new Response('x'))]) try { tried.push(String(await make())) } catch (error) { tried.push(error.message) } return tried`,
    { isRare: true },
  ),
  trick(
    'objects handed over by cloning',
    `const tried = []; for (const value of [req.client, fetch, new Request('http://x/'), new ReadableStream(), new WebAssembly.Memory({ initial: 1 }), process, globalThis]) try { tried.push(Object.keys(structuredClone(value, { transfer: [] })).join()) } catch (error) { tried.push(error.name) } return tried`,
    { isRare: true },
  ),
  trick(
    'both ends of a web socket as the answer',
    heard(
      `const { 0: one, 1: two } = new WebSocketPair(); two.accept(); two.addEventListener('message', (event) => resolve(String(event.data))); one.accept(); one.send('x'.repeat(100)); Object.defineProperty(Object.prototype, 'webSocket', { configurable: true, value: one })`,
    ),
    { isRare: true },
  ),
];

export function tenantTricks(bait: TenantBait): readonly TenantProbe[] {
  return [...forgeries, ...reached, ...poisoned, ...afterwards, ...spelled(bait), ...requests(bait), ...leftovers];
}
