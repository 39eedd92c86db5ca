import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { placePreparedData } from '@strongroom/test-servers/prepared-data.js';
import type { ConnectionTarget } from '../storage/connection.js';
import { START_HANGS_MS } from './eventually.js';
import type { Call } from './http-client.js';
import { createCaller } from './http-client.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export type CommandSettings = Readonly<Record<string, string>>;

/** No Reactor process is started ahead of its first use: most of these tests run none, and each costs a third of a second. */
export const QUIET_START = { STRONGROOM_REACTOR_BLANKS: '0' };

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the program with these settings and none of the surroundings. */
export function launch(settings: CommandSettings, ...words: string[]): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  return spawn(process.execPath, [MAIN, ...words], {
    env: { ...Object.fromEntries(own), ...QUIET_START, ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function ending(child: ChildProcess): Promise<Ended> {
  assert.ok(child.stdout && child.stderr);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  return { code, stdout: stdout.trim(), stderr: stderr.trim() };
}

export const runCommand = (settings: CommandSettings, ...words: string[]): Promise<Ended> =>
  ending(launch(settings, ...words));

/** Runs a command that has to end by itself; one that does not is killed, so that its test fails instead of hanging. */
export async function runToEnd(settings: CommandSettings, ...words: string[]): Promise<Ended> {
  const child = launch(settings, ...words);
  const timer = setTimeout(() => child.kill('SIGKILL'), START_HANGS_MS);
  return ending(child).finally(() => clearTimeout(timer));
}

/** Runs a command that has to succeed, and gives what it printed. */
export async function succeed(settings: CommandSettings, ...words: string[]): Promise<Ended> {
  const ended = await runCommand(settings, ...words);
  assert.equal(ended.code, 0, `${words.join(' ')}: ${ended.stderr}`);
  return ended;
}

export interface Served {
  readonly address: string;
  readonly call: Call;
  /** Asks for a clean stop and waits for it. */
  stop(): Promise<void>;
  /** For a test that failed before it came to the end: a child left behind would keep the run waiting. */
  kill(): void;
}

/** Runs the API on a free port, without rate limits; ready when it resolves. */
export async function serveWith(settings: CommandSettings): Promise<Served> {
  placePreparedData(settings);
  const child = launch({ STRONGROOM_PORT: '0', STRONGROOM_RATE_LIMITS: 'off', ...settings }, 'serve');
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let output = '';
  const address = await new Promise<string>((resolve, reject) => {
    const fail = () => {
      child.kill('SIGKILL');
      reject(new Error(`not ready: ${output}`));
    };
    const timer = setTimeout(fail, START_HANGS_MS);
    void ended.then(fail);
    child.stderr?.on('data', (chunk) => (output += String(chunk)));
    child.stdout?.on('data', (chunk) => {
      output += String(chunk);
      const [, found] = /"address":"(http:[^"]+)".*"msg":"ready"/.exec(output) ?? [];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    });
  });
  return {
    address,
    call: createCaller(address),
    kill: () => void child.kill('SIGKILL'),
    async stop() {
      child.kill('SIGTERM');
      assert.equal(await ended, 0, output.slice(-2_000));
    },
  };
}

/** An address of the server of this test run, which is reached through its socket. */
export function urlOf(target: ConnectionTarget): string {
  if (!('socketDir' in target)) throw new Error('tests reach their server through its socket');
  const { user, port, database, socketDir } = target;
  return `postgres://${user}@localhost:${port}/${database}?host=${encodeURIComponent(socketDir)}`;
}
