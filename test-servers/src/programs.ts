import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';
import type { Ids } from './account.js';

export interface ProgramOptions {
  readonly ids?: Ids | undefined;
  readonly env?: Readonly<Record<string, string>>;
}

/** A server of ours. What it prints is kept for the message when it fails. */
export interface RunningProgram {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly exited: Promise<number | null>;
  readonly output: () => string;
  /** Sends a signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>;
}

const OUTPUT_MAX = 20_000;

export function startProgram(path: string, args: readonly string[], options: ProgramOptions = {}): RunningProgram {
  const child = spawn(path, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // Some programs insist on a working folder they may enter.
    cwd: '/',
    env: { ...process.env, ...options.env },
    ...(options.ids && { uid: options.ids.uid, gid: options.ids.gid }),
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      printed = `${printed}${chunk.toString()}`.slice(-OUTPUT_MAX);
    });
  }
  const exited = new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      printed += error.message;
      resolve(null);
    });
    child.once('exit', (code) => resolve(code));
  });
  return {
    child,
    pid: child.pid ?? 0,
    exited,
    output: () => printed,
    async end(signal) {
      child.kill(signal);
      await exited;
    },
  };
}

/** Runs a program to its end; throws what it printed when it fails. */
export async function runProgram(path: string, args: readonly string[], options: ProgramOptions = {}): Promise<void> {
  const program = startProgram(path, args, options);
  const code = await program.exited;
  if (code !== 0) throw new Error(`${path} ended with ${code}: ${program.output()}`);
}

/**
 * Below the ports a system gives to outgoing connections (Linux 32768, macOS and Windows 49152), else one of those could
 * take the port between this answer and the start of its server.
 */
const PORT_FIRST = 20_000;
const PORT_END = 32_768;

/** A port nobody listens on now, and no outgoing connection takes. */
export async function freePort(): Promise<number> {
  const port = randomInt(PORT_FIRST, PORT_END);
  return (await isFree(port)) ? port : freePort();
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (isListening) await new Promise((resolve) => server.close(resolve));
  return isListening;
}

const POLL_MS = 25;

/** Asks until the answer is yes; throws when the program ends first or the time is up. */
export async function untilUp(program: RunningProgram, isUp: () => Promise<boolean>, limitMs = 120_000): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  let hasEnded = false;
  void program.exited.then(() => {
    hasEnded = true;
  });
  while (!(await isUp().catch(() => false))) {
    if (hasEnded || performance.now() > deadlineMs) throw new Error(`a server did not come up: ${program.output()}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
