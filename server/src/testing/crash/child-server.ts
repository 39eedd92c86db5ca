import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { placePreparedData } from '@strongroom/test-servers/prepared-data.js';
import { QUIET_START } from '../command-runner.js';

export interface ChildServer {
  readonly baseUrl: string;
  readonly process: ChildProcess;
  /** Sends the signal and comes back with how the process ended: its exit code, or the signal itself. */
  end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals>;
}

const PROGRAM = fileURLToPath(new URL('../../main.js', import.meta.url));

/** Starts `strongroom serve` on the folder, without waiting for anything. */
export function spawnServer(dataDir: string, key: string): ChildProcess {
  return spawn(process.execPath, [PROGRAM, 'serve'], {
    env: {
      PATH: process.env.PATH,
      STRONGROOM_DATA_DIR: dataDir,
      STRONGROOM_PORT: '0',
      STRONGROOM_RATE_LIMITS: 'off',
      ...QUIET_START,
      STRONGROOM_BOOTSTRAP_API_KEY: key,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Starts the server and comes back when it says that it is ready. */
export async function startServer(dataDir: string, key: string): Promise<ChildServer> {
  placePreparedData({ STRONGROOM_DATA_DIR: dataDir });
  const child = spawnServer(dataDir, key);
  const complaints: string[] = [];
  child.stderr?.on('data', (chunk: Buffer) => complaints.push(chunk.toString()));
  const baseUrl = await new Promise<string>((resolve, reject) => {
    if (!child.stdout) throw new Error('assertion failed: the output of the child is a pipe');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = readyAddress(line);
      if (address !== undefined) resolve(address);
    });
    child.once('exit', (code, signal) => {
      reject(new Error(`the server ended before it was ready (${code ?? signal}): ${complaints.join('')}`));
    });
  });
  return {
    baseUrl,
    process: child,
    async end(signal) {
      if (child.exitCode !== null) return child.exitCode;
      const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>; // As documented.
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by ?? 'SIGKILL';
    },
  };
}

function readyAddress(line: string): string | undefined {
  if (!line.includes('"msg":"ready"')) return undefined;
  const { address } = JSON.parse(line) as { address?: unknown }; // Read as unknown, checked below.
  return typeof address === 'string' ? address : undefined;
}
