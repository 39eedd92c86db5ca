/** Code that tries to get out. What it returns or throws is searched for what it must not have seen. */
export interface TenantProbe {
  readonly name: string;
  readonly code: string;
  /** One after the other in the same instance; one by default. */
  readonly runs?: number;
  /** For code that does not end by itself. */
  readonly deadlineMs?: number;
  /** Cannot be shown to hit: no host believes what it tries. */
  readonly isRare?: true;
}

/** What is put where code could find it. */
export interface TenantBait {
  readonly port: number;
  readonly socketPath: string;
  readonly secretFile: string;
  /** Must not be there afterwards. */
  readonly planted: string;
  readonly apiPid: number;
}

export const handler = (body: string): string =>
  `module.exports = async (req) => { try { ${body} } catch (error) { return 'refused: ' + (error && error.message || error) } };`;
const probe = (name: string, body: string): TenantProbe => ({ name, code: handler(body) });
export const module_ = (name: string): string => `await import(${JSON.stringify(name)})`;
/** Waits for the first of the two, so that a probe which hears nothing ends. */
export const heard = (setup: string): string =>
  `return await new Promise((resolve, reject) => { ${setup}; setTimeout(() => resolve('heard nothing'), 700) })`;

const environment: readonly TenantProbe[] = [
  probe('the environment', 'return JSON.stringify(process.env)'),
  probe(
    'the environment by a constructor',
    'return String(req.constructor.constructor("return process.env.VAULT_SECRET")())',
  ),
  probe('Function', 'return String(new Function("return process.env.VAULT_SECRET")())'),
  probe(
    'Function of async functions',
    'return String(await (async () => {}).constructor("return process.env.VAULT_SECRET")())',
  ),
  probe(
    'Function of generators',
    'return String([...(function* () {}).constructor("yield process.env.VAULT_SECRET")()])',
  ),
  probe('eval', 'return String(eval("process.env.VAULT_SECRET"))'),
  probe('indirect eval', 'return String((0, eval)("process.env.VAULT_SECRET"))'),
  probe('a timer with text', 'return String(setTimeout("globalThis.x = 1", 1))'),
  probe(
    'arguments of the process',
    'return JSON.stringify([process.argv, process.execArgv, process.execPath, process.title])',
  ),
  probe('the report of the process', 'return JSON.stringify(process.report.getReport())'),
  probe(
    'features of the process',
    'return JSON.stringify([process.pid, process.ppid, process.cwd(), process.memoryUsage()])',
  ),
  probe('bindings of the process', 'return JSON.stringify(Object.keys(process.binding("fs")))'),
  probe('linked bindings', 'return JSON.stringify(Object.keys(process._linkedBinding("fs")))'),
  probe(
    'names of the machine',
    `const os = ${module_('node:os')}; return JSON.stringify([os.hostname(), os.homedir(), os.networkInterfaces()])`,
  ),
];

const files = ({ secretFile, planted }: TenantBait): readonly TenantProbe[] => [
  ...['/etc/passwd', '/proc/self/environ', '/proc/1/environ', '/proc/self/maps', '/proc/self/mounts', secretFile].map(
    (path) =>
      probe(
        `read ${path === secretFile ? 'the secret' : path}`,
        `return (${module_('node:fs')}).readFileSync(${JSON.stringify(path)}, 'utf8')`,
      ),
  ),
  ...['/', '/proc', '/etc', '/e', '/l'].map((path) =>
    probe(
      `list ${path}`,
      `return JSON.stringify((${module_('node:fs')}).readdirSync(${JSON.stringify(path)}).filter((name) => /passwd|config\\.bin|^1$|libc/.test(name)).map(() => 'CANARY'))`,
    ),
  ),
  probe('a built-in module', 'return process.getBuiltinModule("fs").readFileSync("/etc/passwd", "utf8")'),
  probe('require fs', 'return require("fs").readFileSync("/etc/passwd", "utf8")'),
  probe('require node:fs', 'return require("node:fs").readFileSync("/etc/passwd", "utf8")'),
  probe('require by a path', 'return JSON.stringify(require("/etc/passwd"))'),
  probe('require a neighbour', 'return JSON.stringify(Object.keys(require("./main.js")))'),
  probe('require by another this', 'return JSON.stringify(require.call(globalThis, "fs"))'),
  probe('require the loader', 'return JSON.stringify(Object.keys(require("loader.js")))'),
  probe('require texts of packages', 'return JSON.stringify(require("package-texts"))'),
  probe('a promise of files', `return await (${module_('node:fs/promises')}).readFile('/etc/passwd', 'utf8')`),
  probe(
    'a stream of a file',
    `const fs = ${module_('node:fs')}; let text = ''; for await (const piece of fs.createReadStream('/etc/passwd')) text += piece; return text`,
  ),
  probe(
    'a symbolic link out',
    `const fs = ${module_('node:fs')}; fs.symlinkSync('/etc/passwd', '/tmp/link'); return fs.readFileSync('/tmp/link', 'utf8')`,
  ),
  probe(
    'a hard link out',
    `const fs = ${module_('node:fs')}; fs.linkSync('/etc/passwd', '/tmp/hard'); return fs.readFileSync('/tmp/hard', 'utf8')`,
  ),
  probe('write a file', `(${module_('node:fs')}).writeFileSync(${JSON.stringify(planted)}, 'x'); return 'written'`),
  probe(
    'copy a file',
    `(${module_('node:fs')}).copyFileSync('/etc/passwd', ${JSON.stringify(planted)}); return 'copied'`,
  ),
  probe(
    'a database file',
    `const { DatabaseSync } = ${module_('node:sqlite')}; new DatabaseSync(${JSON.stringify(planted)}); return 'opened'`,
  ),
  probe(
    'a snapshot of the heap',
    `return String((${module_('node:v8')}).writeHeapSnapshot(${JSON.stringify(planted)}))`,
  ),
  probe('watch a file', `(${module_('node:fs')}).watch('/etc'); return 'watches'`),
];

const processes = ({ planted, apiPid }: TenantBait): readonly TenantProbe[] => [
  probe('run a program', `return (${module_('node:child_process')}).execSync('touch ${planted}').toString()`),
  probe('require child_process', 'return require("child_process").execSync("id").toString()'),
  probe(
    'spawn a program',
    `const child = (${module_('node:child_process')}).spawn('touch', ['${planted}']); return 'pid ' + child.pid`,
  ),
  probe('spawn synchronously', `return String((${module_('node:child_process')}).spawnSync('id').stdout)`),
  probe(
    'fork',
    `const cp = ${module_('node:child_process')}; for (let i = 0; i < 1000; i += 1) cp.fork('x'); return 'forked'`,
  ),
  probe(
    'a thread',
    `const { Worker } = ${module_('node:worker_threads')}; new Worker('while (true);', { eval: true }); return 'started'`,
  ),
  probe('a cluster', `const cluster = ${module_('node:cluster')}; cluster.fork(); return 'forked'`),
  probe('end the API', `process.kill(${apiPid}, 'SIGTERM'); return 'sent'`),
  probe('end the own process', 'process.abort(); return "still there"'),
  probe('load a library', 'process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6"); return "CANARY loaded"'),
  probe(
    'flags of the engine',
    `(${module_('node:v8')}).setFlagsFromString('--allow-natives-syntax'); return eval('%GetHeapUsage()')`,
  ),
  probe('the debugger', `(${module_('node:inspector')}).open(9229); return 'asked'`),
  probe(
    'another context',
    `return String((${module_('node:vm')}).runInNewContext('this.constructor.constructor("return process.env.VAULT_SECRET")()'))`,
  ),
  probe('hooks of modules', `(${module_('node:module')}).register('data:text/javascript,'); return 'registered'`),
  probe(
    'a require of its own',
    `return (${module_('node:module')}).createRequire('/x')('fs').readFileSync('/etc/passwd', 'utf8')`,
  ),
  probe(
    'system interface of wasm',
    `const { WASI } = ${module_('node:wasi')}; new WASI({ version: 'preview1', preopens: { '/': '/' } }); return 'made'`,
  ),
  probe(
    'async hooks',
    `const { executionAsyncResource } = ${module_('node:async_hooks')}; return JSON.stringify(executionAsyncResource())`,
  ),
];

const sockets = ({ port, socketPath }: TenantBait): readonly TenantProbe[] => [
  probe(
    'a connection',
    heard(
      `import('node:net').then((net) => { const socket = net.connect(${port}, '127.0.0.1', () => socket.write('GET /hit HTTP/1.0\\r\\n\\r\\n')); socket.on('data', (data) => resolve(String(data))).on('error', reject) }, reject)`,
    ),
  ),
  probe(
    'a connection to a unix socket',
    heard(
      `import('node:net').then((net) => net.connect(${JSON.stringify(socketPath)}, () => resolve('CANARY connected')).on('error', reject), reject)`,
    ),
  ),
  probe(
    'a connection by the engine',
    `const { connect } = ${module_('cloudflare:sockets')}; const socket = connect('127.0.0.1:${port}'); const writer = socket.writable.getWriter(); await writer.write(new TextEncoder().encode('GET /hit HTTP/1.0\\r\\n\\r\\n')); const { value } = await socket.readable.getReader().read(); return new TextDecoder().decode(value)`,
  ),
  probe(
    'TLS',
    heard(
      `import('node:tls').then((tls) => tls.connect(${port}, '127.0.0.1', () => resolve('CANARY connected')).on('error', reject), reject)`,
    ),
  ),
  probe(
    'http',
    heard(
      `import('node:http').then((http) => http.get('http://127.0.0.1:${port}/hit', (answer) => resolve('status ' + answer.statusCode)).on('error', reject), reject)`,
    ),
  ),
  probe(
    'http over a unix socket',
    heard(
      `import('node:http').then((http) => http.get({ socketPath: ${JSON.stringify(socketPath)}, path: '/hit' }, (answer) => resolve('status ' + answer.statusCode)).on('error', reject), reject)`,
    ),
  ),
  probe(
    'http2',
    heard(
      `import('node:http2').then((http2) => http2.connect('http://127.0.0.1:${port}').on('connect', () => resolve('CANARY connected')).on('error', reject), reject)`,
    ),
  ),
];

const otherSockets = ({ port }: TenantBait): readonly TenantProbe[] => [
  probe(
    'a server',
    heard(
      `import('node:http').then((http) => http.createServer(() => {}).on('error', reject).listen(8099, () => resolve('listens')), reject)`,
    ),
  ),
  probe(
    'UDP',
    heard(
      `import('node:dgram').then((dgram) => dgram.createSocket('udp4').send('x', ${port}, '127.0.0.1', (error) => error ? reject(error) : resolve('CANARY sent')), reject)`,
    ),
  ),
  probe('DNS', `return JSON.stringify(await (${module_('node:dns/promises')}).lookup('localhost'))`),
  probe(
    'a web socket',
    heard(
      `const socket = new WebSocket('ws://127.0.0.1:${port}/hit'); socket.onopen = () => resolve('CANARY open'); socket.onerror = () => resolve('refused')`,
    ),
  ),
  probe(
    'an event source',
    heard(
      `const source = new EventSource('http://127.0.0.1:${port}/hit'); source.onopen = () => resolve('CANARY open'); source.onerror = () => { source.close(); resolve('refused') }`,
    ),
  ),
  probe('an import from an address', `return JSON.stringify(${module_(`http://127.0.0.1:${port}/hit`)})`),
  probe(
    'an import of text',
    `return JSON.stringify(${module_('data:text/javascript,export default process.env.VAULT_SECRET')})`,
  ),
];

const fetches = ({ port, socketPath }: TenantBait): readonly TenantProbe[] => [
  ...['http', 'https', 'ftp', 'file', 'ws', 'gopher'].map((scheme) =>
    probe(
      `fetch by ${scheme}`,
      `return await (await fetch('${scheme}://127.0.0.1:${port}/hit', { signal: AbortSignal.timeout(500) })).text()`,
    ),
  ),
  probe('fetch of a unix socket', `return await (await fetch('unix:${socketPath}')).text()`),
  probe(
    'fetch with another address',
    `return await (await fetch('https://example.test/hit', { cf: { resolveOverride: '127.0.0.1' } })).text()`,
  ),
  probe(
    'fetch with another host',
    `return await (await fetch('https://example.test/hit', { headers: { Host: '127.0.0.1:${port}' } })).text()`,
  ),
  probe('fetch by CONNECT', `return (await fetch('http://127.0.0.1:${port}/', { method: 'CONNECT' })).status + ''`),
  probe('fetch of text', `return await (await fetch('data:text/plain,hello')).text()`),
];

const engine: readonly TenantProbe[] = [
  probe('bindings', `return JSON.stringify(Object.keys((${module_('cloudflare:workers')}).env))`),
  probe(
    'the loader by its binding',
    `const { env } = ${module_('cloudflare:workers')}; return typeof env.LOADER + typeof env.OUTSIDE === 'undefinedundefined' ? 'none' : 'CANARY'`,
  ),
  probe(
    'another identity',
    `const { env } = ${module_('cloudflare:workers')}; return await (await env.API.fetch('http://api/tokens', { headers: { 'SVC-API-KEY': 'victim', Authorization: 'Bearer victim', 'x-application': 'victim' } })).text()`,
  ),
  probe(
    'another identity by the address',
    `const { env } = ${module_('cloudflare:workers')}; return await (await env.API.fetch('http://victim:victim@api/tokens')).text()`,
  ),
  probe(
    'the binding as a server',
    `const { env } = ${module_('cloudflare:workers')}; const socket = env.API.connect('127.0.0.1:1'); return String((await socket.readable.getReader().read()).value)`,
  ),
  probe(
    'members of the binding',
    `const { env } = ${module_('cloudflare:workers')}; return String(await env.API.env) + typeof (await env.API.env.LOADER)`,
  ),
  probe(
    'context of the binding',
    `const { env } = ${module_('cloudflare:workers')}; return JSON.stringify(await env.API.ctx.exports)`,
  ),
  probe(
    'code in the loader',
    `const { env } = ${module_('cloudflare:workers')}; return String(await env.API.constructor('return 1'))`,
  ),
  probe(
    'the protocol of the host',
    `const { env } = ${module_('cloudflare:workers')}; const statuses = []; for (const path of ['out', 'in/1', 'load', 'run']) statuses.push((await env.API.fetch('http://loader/' + path, { method: 'POST', body: 'evil' })).status); return statuses.join()`,
  ),
  probe(
    'answers to other requests',
    `const { env } = ${module_('cloudflare:workers')}; const asked = fetch('https://example.test/'); await Promise.allSettled([1, 2, 3, 4].map((id) => env.API.fetch('http://api/in/' + id, { method: 'POST', body: new Uint8Array([0, 0, 0, 2, 123, 125]) }))); return (await asked).status + ''`,
  ),
  probe(
    'a worker of its own',
    `const { env } = ${module_('cloudflare:workers')}; return String(env.LOADER.get('x', () => ({})))`,
  ),
  probe(
    'exports of the engine',
    `return JSON.stringify(Object.keys((${module_('cloudflare:workers')}).exports ?? {}).filter((name) => /Outside|Api/.test(name)).map(() => 'CANARY'))`,
  ),
  probe('unsafe parts of the engine', `return JSON.stringify(Object.keys(${module_('workerd:unsafe')}))`),
  probe('inner modules of the engine', `return JSON.stringify(Object.keys(${module_('node-internal:internal_fs')}))`),
  probe(
    'inner modules of compatibility',
    `return JSON.stringify(Object.keys(${module_('cloudflare-internal:workers')}))`,
  ),
  probe(
    'the cache',
    `await caches.default.put('http://x/', new Response('a', { headers: { 'Cache-Control': 'max-age=60' } })); return 'put'`,
  ),
  probe(
    'forged frames',
    `globalThis.Response = class { constructor() { return { headers: new Map([['by', 'loader']]), body: null } } }; return 'forged'`,
  ),
  probe(
    'the own main module',
    `const main = ${module_('main.js')}; main.default.fetch = async () => new Response('EVIL'); return 'replaced'`,
  ),
  probe(
    'symbols of errors',
    `const error = new Error('x'); error[Symbol.for('strongroom.error')] = 'CustomHttpResponseError'; error.response = { status: 999, headers: { 'x\\r\\ny': 'z' } }; throw error`,
  ),
  probe(
    'shared memory',
    'return typeof SharedArrayBuffer === "undefined" ? "none" : String(new SharedArrayBuffer(8).byteLength)',
  ),
  probe('compiled wasm', 'return String(await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])))'),
  probe(
    'a fine clock',
    'const start = performance.now(); for (let i = 0; i < 1e6; i += 1); const took = performance.now() - start; return took === 0 ? "coarse" : "took " + took',
  ),
];

/** Those that ask the host for something, so that a host which believes them shows whether they can hit. */
export function askingProbes(bait: TenantBait): readonly TenantProbe[] {
  return [...sockets(bait), ...otherSockets(bait), ...fetches(bait), ...engine];
}

export function tenantProbes(bait: TenantBait): readonly TenantProbe[] {
  return [...environment, ...files(bait), ...processes(bait), ...askingProbes(bait)];
}
