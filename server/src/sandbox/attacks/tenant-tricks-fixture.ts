import type { TenantBait, TenantProbe } from './tenant-probes-fixture.js';
import { handler, heard, module_ } from './tenant-probes-fixture.js';
import { requestTricks, trick } from './tenant-request-tricks-fixture.js';

/**
 * More code that tries to get out, of other kinds: it changes what our own code beside it stands on, gives values that act while
 * they are read, acts after its answer, and spells addresses so that two readers may differ.
 */
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
    `const fs = ${module_('node:fs')}; const tried = []; for (const path of [new URL('/etc/passwd', 'file:'), new URL('/dev/%2e%2e/etc/passwd', 'file:'), Buffer.from('/etc/passwd'), '/bundle/../etc/passwd', '//etc/passwd', '/dev/../etc/passwd', ['/proc/self', 'root', 'etc/passwd'].join('/')])
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
  return [...forgeries, ...reached, ...poisoned, ...afterwards, ...requestTricks(bait), ...leftovers];
}
