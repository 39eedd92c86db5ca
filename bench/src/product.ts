import type { ChildProcess } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { freePort } from '@strongroom/test-servers/programs.js';
import { apiPids, type Watched } from './watch/cost.js';
import type { Workshop } from './workshop.js';

export interface ProductOptions {
  /** A folder used before; a fresh one without it. */
  readonly dataDir?: string;
  readonly key?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly workers?: number;
  /** The folder of another checkout, built, whose product is started in place of this one's. */
  readonly checkout?: string;
  /** The server the product is told to use, when it is not the embedded one. */
  readonly postmaster?: number;
  /** The words of a command that comes first. */
  readonly before?: readonly string[];
}

export interface Product {
  readonly port: number;
  readonly pid: number;
  readonly dataDir: string;
  /** Where the embedded server listens. */
  readonly socketDir: string;
  /** Of the first management application. */
  readonly key: string;
  readonly env: NodeJS.ProcessEnv;
  readonly watched: Watched;
  /** Processor time of the database alone, for baselines that use it too. */
  readonly database: number;
  readonly readySeconds: number;
  command(...words: string[]): Promise<string>;
  stop(): Promise<void>;
}

/** This checkout. */
export const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url));
const START_POLL_MS = 20;
const WORKERS_MS = 15_000;

/** The product as an operator starts it: default log level, embedded database; only the rate limits are lifted. */
export async function startProduct(workshop: Workshop, options: ProductOptions = {}): Promise<Product> {
  const dataDir = options.dataDir ?? join(await workshop.folder(), 'data');
  const logFile = `${await workshop.folder()}/log`;
  const main = join(options.checkout ?? CHECKOUT, 'server/dist/main.js');
  const base = { ...process.env, STRONGROOM_DATA_DIR: dataDir, STRONGROOM_RATE_LIMITS: 'off', ...options.env };
  const key = options.key ?? (await runCommand(workshop, main, base, 'key', 'generate'));
  const { workers = 1, before = [] } = options;
  if (before.length > 0) await runCommand(workshop, main, base, ...before);
  const env = {
    ...base,
    STRONGROOM_PORT: workers === 1 ? '0' : String(await freePort()),
    STRONGROOM_BOOTSTRAP_API_KEY: key,
    STRONGROOM_WORKERS: String(workers),
  };
  const log = await open(logFile, 'w');
  const startedMs = performance.now();
  const { child, stop } = workshop.spawn([main, 'serve'], { stdio: ['ignore', log.fd, 'inherit'], env });
  await log.close();
  const port = await portIn(logFile, child);
  const readySeconds = (performance.now() - startedMs) / 1_000;
  const pid = child.pid ?? 0;
  if (workers > 1) await untilWorkers(pid, workers);
  const database = options.postmaster ?? pid;
  return {
    port,
    pid,
    dataDir,
    socketDir: join(dataDir, 'run'),
    key,
    env,
    watched: { api: pid, database },
    database,
    readySeconds,
    command: (...words) => runCommand(workshop, main, env, ...words),
    stop,
  };
}

/** Runs the operator's command line and returns what it printed. */
async function runCommand(
  workshop: Workshop,
  main: string,
  env: NodeJS.ProcessEnv,
  ...words: string[]
): Promise<string> {
  const { child } = workshop.spawn([main, ...words], { stdio: ['ignore', 'pipe', 'inherit'], env });
  if (!child.stdout) throw new Error('assertion failed: the output is piped');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const printed = await text(child.stdout);
  const code = await ended;
  if (code !== 0) throw new Error(`strongroom ${words.join(' ')} ended with ${code}`);
  return printed.trim();
}

/** The log goes to a file, as it would under a service manager; a pipe would make this process part of the measurement. */
async function portIn(logFile: string, child: ChildProcess): Promise<number> {
  while (child.exitCode === null && child.signalCode === null) {
    const port = /"address":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(await readFile(logFile, 'utf8'))?.[1];
    if (port !== undefined) return Number(port);
    await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
  }
  throw new Error(`the product ended with ${child.exitCode} before it was ready`);
}

/** A build that ignores the setting would be measured as one process under a wrong name. */
async function untilWorkers(pid: number, workers: number): Promise<void> {
  const deadlineMs = performance.now() + WORKERS_MS;
  while ((await apiPids(pid)).length < workers) {
    if (performance.now() > deadlineMs) throw new Error(`the product did not start ${workers} API processes`);
    await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
  }
}
