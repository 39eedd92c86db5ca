import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { BareDriverOptions } from './bare-driver.js';
import type { BareVaultOptions } from './bare-vault.js';
import type { LoadOptions, LoadResult } from './load.js';

const START_POLL_MS = 20;

export const MAIN = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));

function script(name: string): string {
  return fileURLToPath(new URL(`./${name}.js`, import.meta.url));
}

export interface Started {
  readonly child: ChildProcess;
  stop(): Promise<void>;
}

export interface ProductOptions {
  readonly dataDir: string;
  readonly key: string;
}

/** The product as an operator starts it: default log level, embedded database; only the rate limits are lifted. */
export async function startProduct(options: ProductOptions): Promise<Started & { readonly port: number }> {
  const logFile = `${options.dataDir}.log`;
  const log = await open(logFile, 'w');
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    stdio: ['ignore', log.fd, 'inherit'],
    env: {
      ...process.env,
      STRONGROOM_DATA_DIR: options.dataDir,
      STRONGROOM_PORT: '0',
      STRONGROOM_RATE_LIMITS: 'off',
      STRONGROOM_BOOTSTRAP_API_KEY: options.key,
    },
  });
  await log.close();
  const port = await portIn(logFile, child);
  const started = stoppable(child);
  return {
    child,
    port,
    async stop() {
      await started.stop();
      await rm(logFile, { force: true });
    },
  };
}

export async function startBareHttp(
  headers: Record<string, string>,
  body: string,
): Promise<Started & { port: number }> {
  const child = spawn(process.execPath, [script('bare-http'), JSON.stringify(headers), body], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { ...stoppable(child), port: Number(await firstMatch(child, /^(\d+)$/)) };
}

/** The floors of the vault: see bare-vault.ts for what each of them does. */
export async function startBareVault(options: BareVaultOptions): Promise<Started & { port: number }> {
  const child = spawn(process.execPath, [script('bare-vault'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { ...stoppable(child), port: Number(await firstMatch(child, /^(\d+)$/)) };
}

export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const child = spawn(process.execPath, [script('load-process')], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin?.end(JSON.stringify(options));
  const result: LoadResult = JSON.parse(await firstMatch(child, /^(\{.*\})$/));
  if (result.refused > 0) throw new Error(`${result.refused} of ${result.requests} requests were refused`);
  return result;
}

export async function runBareDriver(options: BareDriverOptions): Promise<number> {
  const child = spawn(process.execPath, [script('bare-driver'), JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const result: { perSecond: number } = JSON.parse(await firstMatch(child, /^(\{.*\})$/));
  return result.perSecond;
}

/** Runs the operator's command line and returns what it printed. */
export async function runCommand(dataDir: string, ...words: string[]): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, STRONGROOM_DATA_DIR: dataDir },
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`strongroom ${words.join(' ')} ended with ${code}`);
  return text.trim();
}

/** The log goes to a file, as it would under a service manager; a pipe would make this process part of the measurement. */
async function portIn(logFile: string, child: ChildProcess): Promise<number> {
  while (child.exitCode === null) {
    const port = /"address":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(await readFile(logFile, 'utf8'))?.[1];
    if (port !== undefined) return Number(port);
    await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
  }
  throw new Error(`the product ended with ${child.exitCode} before it was ready`);
}

function stoppable(child: ChildProcess): Started {
  return {
    child,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null) {
          resolve();
          return;
        }
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

function firstMatch(child: ChildProcess, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) throw new Error('assertion failed: the output is piped');
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      const found = pattern.exec(line)?.[1];
      if (found === undefined) return;
      resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`a process ended with ${code} before it was ready`)));
  });
}
