import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** One page of a real browser. */
export interface BrowserPage {
  goto(address: string): Promise<void>;
  /** The value of an expression in the page, once promises are settled. */
  evaluate(expression: string): Promise<unknown>;
  /** A picture of what is seen, as PNG. */
  picture(): Promise<Buffer>;
  /** What the page said to its console, and errors nobody caught. */
  readonly said: string[];
  /** Questions of the page; each was answered with no. */
  readonly asked: string[];
  close(): Promise<void>;
}

type Params = Readonly<Record<string, unknown>>;

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Params;
  readonly error?: { readonly message: string };
}

/** Starts a browser without a window, spoken to over two pipes: no port is opened, and it ends with its pipes. */
export async function openBrowserPage(program: string): Promise<BrowserPage> {
  const folder = await mkdtemp(join(tmpdir(), 'strongroom-browser-'));
  const flags = [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    '--no-first-run',
    '--window-size=1200,1000',
  ];
  // Tests run as root in a container, where the browser's own sandbox cannot be made; the page is ours.
  const own = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'];
  const child = spawn(program, [...flags, ...own, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  // Opened as pipes above.
  const pipe = createPipe(child.stdio[3] as Writable, child.stdio[4] as Readable, ended);
  const page = await attach(pipe);
  return {
    ...page,
    async close() {
      await pipe.send('Browser.close').catch(() => child.kill('SIGKILL'));
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Pipe {
  send(method: string, params?: Params, sessionId?: string): Promise<Params>;
  onEvent(listener: (method: string, params: Params) => void): void;
}

/** Messages are JSON with a NUL behind each. */
function createPipe(to: Writable, from: Readable, ended: Promise<void>): Pipe {
  const waiting = new Map<number, { resolve(result: Params): void; reject(error: Error): void }>();
  let listener: (method: string, params: Params) => void = () => {};
  let rest = '';
  let count = 0;
  to.on('error', () => {});
  from.setEncoding('utf8').on('data', (chunk: string) => {
    const messages = (rest + chunk).split('\0');
    rest = messages.pop() ?? '';
    for (const text of messages) {
      const { id, method, params = {}, result = {}, error }: Message = JSON.parse(text);
      if (id === undefined) listener(method ?? '', params);
      else if (error) waiting.get(id)?.reject(new Error(error.message));
      else waiting.get(id)?.resolve(result);
    }
  });
  ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('the browser has ended'));
  });
  return {
    onEvent(next) {
      listener = next;
    },
    send(method, params = {}, sessionId) {
      count += 1;
      const id = count;
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        to.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`);
      });
    },
  };
}

async function attach(pipe: Pipe): Promise<Omit<BrowserPage, 'close'>> {
  const said: string[] = [];
  const asked: string[] = [];
  const { targetId } = await pipe.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await pipe.send('Target.attachToTarget', { targetId, flatten: true });
  const send = (method: string, params: Params = {}) => pipe.send(method, params, String(sessionId));
  let onLoaded = () => {};
  pipe.onEvent((method, params) => {
    if (method === 'Page.loadEventFired') onLoaded();
    if (method === 'Log.entryAdded' || method === 'Runtime.exceptionThrown') said.push(JSON.stringify(params));
    if (method !== 'Page.javascriptDialogOpening') return;
    asked.push(String(params.message));
    void send('Page.handleJavaScriptDialog', { accept: false });
  });
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`);
  return {
    said,
    asked,
    async goto(address) {
      const loaded = new Promise<void>((resolve) => {
        onLoaded = resolve;
      });
      await send('Page.navigate', { url: address });
      await loaded;
    },
    async evaluate(expression) {
      const answer = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
      if (answer.exceptionDetails) throw new Error(JSON.stringify(answer.exceptionDetails));
      return (answer.result as { value?: unknown }).value; // A remote object of the protocol.
    },
    async picture() {
      const { data } = await send('Page.captureScreenshot', { captureBeyondViewport: true });
      return Buffer.from(String(data), 'base64');
    },
  };
}
