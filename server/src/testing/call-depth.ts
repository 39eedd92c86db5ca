import type { Runtime } from 'node:inspector';
import { Session } from 'node:inspector';
import pg from 'pg';
import type { TestApp, TestTenant } from './test-app.js';
import { startTestApp } from './test-app.js';

/** A request, and the statement that reads or writes its row. */
interface Measured {
  readonly name: string;
  readonly statement: string;
  readonly send: (app: TestApp, caller: Caller) => Promise<{ readonly status: number }>;
}

interface Caller extends TestTenant {
  readonly privateKey: string;
  readonly tokenId: string;
}

const MEASURED: readonly Measured[] = [
  {
    name: 'PUT /tenants/self',
    statement: 'update_tenant',
    send: (app, { key }) => app.call('PUT', '/tenants/self', { key, body: { name: 'Measured' } }),
  },
  {
    name: 'GET /tokens/{id}',
    statement: 'find_tokens',
    send: (app, { privateKey, tokenId }) => app.call('GET', `/tokens/${tokenId}`, { key: privateKey }),
  },
  {
    name: 'POST /tokens',
    statement: 'insert_tokens',
    send: (app, { privateKey }) => app.call('POST', '/tokens', { key: privateKey, body: TOKEN }),
  },
];

const TOKEN = { type: 'token', data: 'measured' };
const PERMISSIONS = ['token:create', 'token:read'];
const STACK_DEPTH = 1_000;
const MARK = 'call depth';

/** A function of the product that was on the way: its name and its file. */
export type OnTheWay = string;

/**
 * The product's own functions between the socket and the row of each request, outermost first. The stack at the moment a
 * statement is handed to the driver, together with those it was scheduled from: promises, timers, queues.
 */
export async function callDepths(): Promise<ReadonlyMap<string, readonly OnTheWay[]>> {
  const app = await startTestApp();
  const stacks = new StatementStacks();
  try {
    const tenant = await app.makeTenant();
    const privateKey = await app.makeKey(tenant.id, 'private', PERMISSIONS);
    const made = await app.call('POST', '/tokens', { key: privateKey, body: TOKEN });
    const caller: Caller = { ...tenant, privateKey, tokenId: made.json.id };
    const depths = new Map<string, readonly OnTheWay[]>();
    for (const { name, statement, send } of MEASURED) {
      // Once before, so that keys and rights are remembered as they are for most requests.
      await send(app, caller);
      const stack = await stacks.of(statement, () => send(app, caller));
      depths.set(name, functionsOn(stack));
    }
    return depths;
  } finally {
    stacks.close();
    await app.close();
  }
}

/** Asks the engine for the stack of a statement, with the stacks it was scheduled from, which `Error.stack` leaves out. */
class StatementStacks {
  readonly #session = new Session();
  readonly #driver = pg.Client.prototype as unknown as { query: (this: unknown, ...args: unknown[]) => unknown }; // As much as is needed to pass a call on.
  readonly #query = this.#driver.query;
  #wanted = '';
  #found: Runtime.CallFrame[] | undefined;

  constructor() {
    this.#session.connect();
    this.#session.post('Runtime.enable');
    this.#session.post('Debugger.enable');
    this.#session.post('Debugger.setAsyncCallStackDepth', { maxDepth: STACK_DEPTH });
    this.#session.on('Runtime.consoleAPICalled', ({ params }) => {
      if (params.args[0]?.value === MARK) this.#found ??= this.#framesOf(params.stackTrace);
    });
    const look = (name: unknown): void => {
      // biome-ignore lint/suspicious/noConsole: The call whose stack the engine tells.
      if (name === this.#wanted) console.debug(MARK);
    };
    const query = this.#query;
    this.#driver.query = function (first: unknown, ...rest: unknown[]) {
      if (typeof first === 'object' && first !== null && 'name' in first) look(first.name);
      return query.call(this, first, ...rest);
    };
  }

  async of(statement: string, send: () => Promise<{ readonly status: number }>): Promise<Runtime.CallFrame[]> {
    this.#wanted = statement;
    this.#found = undefined;
    const { status } = await send();
    this.#wanted = '';
    if (status >= 300 || this.#found === undefined) throw new Error(`${statement} was not met, status ${status}`);
    return this.#found;
  }

  /** Innermost first. */
  #framesOf(stack: Runtime.StackTrace | undefined): Runtime.CallFrame[] {
    const frames: Runtime.CallFrame[] = [];
    for (let part = stack; part; part = part.parent ?? this.#parentOf(part)) frames.push(...part.callFrames);
    return frames;
  }

  #parentOf({ parentId }: Runtime.StackTrace): Runtime.StackTrace | undefined {
    let parent: Runtime.StackTrace | undefined;
    if (parentId === undefined) return undefined;
    this.#session.post('Debugger.getStackTrace', { stackTraceId: parentId }, (error, found) => {
      if (error) throw error;
      parent = found.stackTrace;
    });
    return parent;
  }

  close(): void {
    this.#driver.query = this.#query;
    this.#session.disconnect();
  }
}

/** Functions of the product, each once, outermost first. */
function functionsOn(frames: readonly Runtime.CallFrame[]): OnTheWay[] {
  const names = new Set<OnTheWay>();
  for (const { url, functionName, lineNumber } of frames) {
    const [, path] = /\/server\/dist\/(.*)\.js$/.exec(url) ?? [];
    if (path === undefined || path.startsWith('testing/')) continue;
    names.add(`${path} ${functionName || `line ${lineNumber + 1}`}`);
  }
  return [...names].reverse();
}
