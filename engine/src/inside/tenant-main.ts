import requiring from 'require-with';
import parts from 'tenant-code';
import type { ApiBinding } from './client.js';
import { createClient } from './client.js';
import { createFetch } from './follow.js';
import { toFrame } from './frame.js';
import { beginConsole, consoleLines } from './kept-console.js';
import { describeThrown } from './thrown.js';

/**
 * Runs beside tenant code, in its isolate, and is loaded before it. Whatever is here tenant code can change: nothing outside
 * trusts it.
 */

interface Input {
  readonly args: unknown;
  readonly configuration: unknown;
  readonly request_id: string;
  readonly attempt: number;
  /** The names `req` has the client under. */
  readonly client_names: readonly string[];
  readonly keeps_console: boolean;
}
type Handler = (request: unknown) => unknown;

const { stringify, parse } = JSON;
const encoder = new TextEncoder();
const Answer = Response;
const [real, scope, code] = parts;
let handler: unknown;

globalThis.fetch = createFetch(globalThis.fetch);

export default {
  async fetch(request: Request, env: { readonly API?: ApiBinding }): Promise<Response> {
    try {
      const input: Input = parse(await request.text());
      beginConsole(input.keeps_console);
      handler ??= handlerOf();
      if (typeof handler !== 'function')
        return answer({ outcome: 'invalid', message: 'The code exports no function.' });
      const value: unknown = await (handler as Handler)(requestOf(input, env.API));
      return answer({ outcome: 'returned' }, encoder.encode(stringify(value ?? null) ?? 'null'));
    } catch (error) {
      return answer(describeThrown(error));
    }
  },
};

/** What the code exports, by `module.exports` or as a default. */
function handlerOf(): unknown {
  const module: { exports: unknown } = { exports: {} };
  code.call(module.exports, module.exports, requiring.requireWith(real, scope), module, '/reactor.js', '/');
  const found = module.exports as { readonly default?: unknown } | null | undefined;
  return typeof found !== 'function' && typeof found?.default === 'function' ? found.default : found;
}

function requestOf(
  { args, configuration, request_id, attempt, client_names }: Input,
  api: ApiBinding | undefined,
): unknown {
  const client = api ? createClient(api) : null;
  const clients = Object.fromEntries(client_names.map((name) => [name, client]));
  return { client: null, ...clients, args, configuration, request_id, attempt };
}

function answer(head: object, body?: Uint8Array): Response {
  return new Answer(toFrame({ ...head, console: consoleLines() }, body));
}
