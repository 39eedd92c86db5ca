import { WorkerEntrypoint } from 'cloudflare:workers';
import packageTexts from 'package-texts';
import tenantMain from 'tenant-main';
import tenantRequire from 'tenant-require';
import { fromFrame, toFrame } from './frame.js';
import { Outbox } from './outbox.js';

/** The loader: the only code of ours in the engine that tenant code cannot touch. One process, one tenant, one code. */

interface Env {
  readonly LOADER: {
    get(
      name: string,
      make: () => unknown,
    ): { getEntrypoint(): { fetch(url: string, init: RequestInit): Promise<Response> } };
  };
  readonly OUTSIDE: unknown;
  readonly API: unknown;
}

interface Loaded {
  readonly code: string;
  readonly hasClient: boolean;
  /** Further names for modules. */
  readonly aliases: Readonly<Record<string, string>>;
}

const COMPATIBILITY_DATE = '2026-10-01';
/** Modules of the engine itself. */
const BUILT_IN = ['buffer', 'crypto', 'querystring', 'url', 'util'];
const PACKAGES = Object.keys(packageTexts);
/** A mention of `require` that does not call it with a plain text: it could mean any package. */
const OPEN_REQUIRE = /\brequire\b(?!\s*\(\s*['"])/;
const SYNTAX_ERROR = /^Failed to start Worker:\s+Uncaught SyntaxError/;
const MESSAGE_MAX = 2_000;

const outbox = new Outbox();
let loaded: Loaded | undefined;

export class Outside extends WorkerEntrypoint {
  fetch(request: Request): Promise<Response> {
    return outbox.send('outside', request);
  }
}

export class Api extends WorkerEntrypoint {
  fetch(request: Request): Promise<Response> {
    return outbox.send('api', request);
  }
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/ready') return new Response('ready');
    if (pathname === '/load') return load(await request.arrayBuffer());
    if (pathname === '/run' && loaded) return run(loaded, request, env);
    if (pathname === '/out') {
      const frame = await outbox.take();
      return new Response(frame ?? null, { status: frame ? 200 : 204 });
    }
    if (pathname.startsWith('/in/')) {
      outbox.answer(Number(pathname.slice('/in/'.length)), await request.arrayBuffer());
      return new Response(null, { status: 204 });
    }
    return new Response('unknown', { status: 404 });
  },
};

/** Once: what was loaded stays until the process ends. */
function load(frame: ArrayBuffer): Response {
  if (loaded) return new Response('loaded already', { status: 409 });
  const { head, body } = fromFrame(frame);
  const { hasClient, aliases } = head as Omit<Loaded, 'code'>;
  loaded = { code: new TextDecoder().decode(body), hasClient, aliases };
  return new Response('loaded');
}

/** The answer is a frame of tenant code, or one of ours where it did not get to run. */
async function run(what: Loaded, request: Request, env: Env): Promise<Response> {
  try {
    const worker = env.LOADER.get('tenant', () => workerOf(what, env));
    const { body } = await worker.getEntrypoint().fetch('http://tenant/', { method: 'POST', body: request.body });
    return new Response(body);
  } catch (error) {
    const message = String(error instanceof Error ? error.message : error).slice(0, MESSAGE_MAX);
    const outcome = SYNTAX_ERROR.test(message) ? 'invalid' : 'failed';
    return new Response(toFrame({ outcome, message }));
  }
}

function workerOf({ code, hasClient, aliases }: Loaded, env: Env): unknown {
  const isOpen = OPEN_REQUIRE.test(code);
  const named = new Set([...Object.entries(aliases).flatMap(([alias, name]) => (code.includes(alias) ? name : []))]);
  const wanted = PACKAGES.filter((name) => isOpen || named.has(name) || code.includes(name));
  const names = { known: [...BUILT_IN, ...PACKAGES], aliases };
  return {
    compatibilityDate: COMPATIBILITY_DATE,
    compatibilityFlags: [],
    mainModule: 'main.js',
    modules: {
      'main.js': { js: tenantMain },
      'require-with': { cjs: tenantRequire.replace('"NAMES"', () => JSON.stringify(names)) },
      'tenant-code': { cjs: wrapped(code) },
      ...Object.fromEntries(wanted.map((name) => [name, { cjs: packageTexts[name] }])),
    },
    env: hasClient ? { API: env.API } : {},
    globalOutbound: env.OUTSIDE,
  };
}

/**
 * As a function, to be called inside a request: while a module is loaded there are no timers, no random numbers and no fetch.
 * The engine's `require` works only with the scope it belongs to.
 */
function wrapped(code: string): string {
  const head = 'module.exports=[require,(require=function(){return this},require()),';
  const text = code.replace(/^#!.*/, '');
  return `${head}function(exports,require,module,__filename,__dirname){${text}\n}];`;
}
