import { request } from 'node:http';
import type { RunningProgram } from '@strongroom/test-servers/programs.js';
import { freePort, startProgram, untilUp } from '@strongroom/test-servers/programs.js';
import type { Settings } from './product.js';
import { environment, MAIN } from './product.js';

/** One API process of the product, on a port it keeps over restarts. */
export interface ApiNode {
  readonly index: number;
  readonly port: number;
  readonly pid: () => number;
  readonly isRunning: () => boolean;
  readonly output: () => string;
  start(): Promise<void>;
  /** Sends a signal and resolves with the exit code, null for a signal that killed. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  signal(signal: NodeJS.Signals): void;
}

export interface NodeOptions {
  readonly index: number;
  readonly settings: Settings;
  /** Words for the runtime before the program, such as --import. */
  readonly execArgv?: readonly string[];
}

const STOP_MAX_MS = 45_000;

export async function createNode(options: NodeOptions): Promise<ApiNode> {
  const port = await freePort();
  let program: RunningProgram | undefined;
  let isRunning = false;
  return {
    index: options.index,
    port,
    pid: () => program?.pid ?? 0,
    isRunning: () => isRunning,
    output: () => program?.output() ?? '',
    async start() {
      const args = [...(options.execArgv ?? []), MAIN, 'serve'];
      const env = environment({ STRONGROOM_PORT: String(port), ...options.settings });
      const started = startProgram(process.execPath, args, { env });
      program = started;
      isRunning = true;
      void started.exited.then(() => {
        if (program === started) isRunning = false;
      });
      await untilUp(started, () => isReady(port));
    },
    async end(signal) {
      if (program === undefined) return null;
      program.child.kill(signal);
      const timer = setTimeout(() => program?.child.kill('SIGKILL'), STOP_MAX_MS);
      const code = await program.exited;
      clearTimeout(timer);
      return code;
    },
    signal: (signal) => void program?.child.kill(signal),
  };
}

const READY_MAX_MS = 3_000;

function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ port, host: '127.0.0.1', path: '/readyz', timeout: READY_MAX_MS, agent: false });
    asked.once('response', (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.once('timeout', () => asked.destroy());
    asked.once('error', () => resolve(false));
    asked.end();
  });
}
