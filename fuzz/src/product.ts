import { spawn } from 'node:child_process';
import { createReadStream, rmSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endDescendants } from '@strongroom/test-servers/descendants.js';
import { placePreparedData } from '@strongroom/test-servers/prepared-data.js';
import { COLLECTABLE, collectGarbage } from './collect-garbage.js';

const MAIN = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url));
const START_MS = 180_000;
const START_POLL_MS = 50;
/** Time to stop its own database and tidy up. */
const STOP_MS = 15_000;
const REST_MS = 1_000;
/** Pages go back to the system some time after what was on them. */
const SETTLE_ROUNDS = 4;

/** The product as an operator runs it, in a process and a folder of its own. */
export interface Product {
  readonly port: number;
  /** Undefined while it runs, else how it ended. */
  ended(): string | undefined;
  /** Bytes in use, once garbage has been collected and the process has rested. */
  settledBytes(): Promise<number>;
  /** Line by line: after a million requests the log is longer than a text may be. */
  logLines(): AsyncIterable<string>;
  /** Runs a command of the operator on the same data. */
  command(...words: string[]): Promise<string>;
  stop(): Promise<void>;
}

export async function startProduct(settings: Readonly<Record<string, string>>): Promise<Product> {
  const folder = await mkdtemp(join(tmpdir(), 'sr-fuzz-'));
  // However this process ends, nothing of the product outlives it.
  const takeAlong = (): void => {
    endDescendants(STOP_MS);
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  };
  process.once('exit', takeAlong);
  const logFile = join(folder, 'log');
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  const env = {
    ...Object.fromEntries(inherited),
    STRONGROOM_PORT: '0',
    ...settings,
    STRONGROOM_DATA_DIR: join(folder, 'data'),
  };
  // A file, as under a service manager: a pipe would make this process part of what is measured.
  const log = await open(logFile, 'w');
  placePreparedData(env);
  const child = spawn(process.execPath, [...COLLECTABLE, MAIN, 'serve'], {
    env,
    stdio: ['ignore', log.fd, log.fd],
  });
  await log.close();
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ended = (): string | undefined =>
    child.exitCode === null && child.signalCode === null
      ? undefined
      : `the product ended with ${child.exitCode ?? child.signalCode}`;
  const port = await portIn(logFile, ended);

  return {
    port,
    ended,
    async settledBytes() {
      if (child.pid === undefined || ended() !== undefined) return 0;
      let least = Number.POSITIVE_INFINITY;
      for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
        await rest();
        const { size } = await stat(logFile);
        least = Math.min(least, await collectGarbage(child.pid, () => textFrom(logFile, size)));
      }
      return least;
    },
    logLines: () => createInterface({ input: createReadStream(logFile), crlfDelay: Number.POSITIVE_INFINITY }),
    command: (...words) => runCommand(env, words),
    async stop() {
      child.kill('SIGTERM');
      await gone;
      process.off('exit', takeAlong);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REST_MS));
}

async function portIn(logFile: string, ended: () => string | undefined): Promise<number> {
  const deadlineMs = performance.now() + START_MS;
  while (performance.now() < deadlineMs && ended() === undefined) {
    const [, port] =
      /"address":"http:\/\/127\.0\.0\.1:(\d+)".*"msg":"ready"/.exec(await readFile(logFile, 'utf8')) ?? [];
    if (port !== undefined) return Number(port);
    await new Promise((resolve) => setTimeout(resolve, START_POLL_MS));
  }
  throw new Error(`the product did not start: ${await readFile(logFile, 'utf8')}`);
}

/** What a file has from there on. */
async function textFrom(file: string, start: number): Promise<string> {
  let text = '';
  for await (const chunk of createReadStream(file, { start, encoding: 'utf8' })) text += chunk;
  return text;
}

function runCommand(env: NodeJS.ProcessEnv, words: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [MAIN, ...words], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return new Promise((resolve, reject) => {
    child.once('close', (code) => {
      if (code === 0) resolve(text.trim());
      else reject(new Error(`strongroom ${words[0]} ended with ${code}`));
    });
  });
}

/** A management key of the right form, for a first tenant. */
export function generateKey(): Promise<string> {
  return runCommand({ PATH: process.env.PATH }, ['key', 'generate']);
}
