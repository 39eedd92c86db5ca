import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placePreparedData } from '@strongroom/test-servers/prepared-data.js';
import { freePort } from '@strongroom/test-servers/programs.js';
import { QUIET_START } from './command-runner.js';
import { eventually, START_HANGS_MS } from './eventually.js';

export const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));

export type Env = Readonly<Record<string, string>>;

export interface WorkerServer {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly ended: Promise<number | NodeJS.Signals | null>;
  readonly metricsUrl: string;
  ready(): Promise<string>;
  shown(): string;
  lines(msg: string): Record<string, unknown>[];
  /** Process ids of the workers by their numbers, the newest of each. */
  workers(): Map<number, number>;
  /** All samples of a scrape, or of one that took too long an empty one. */
  scrape(): Promise<Map<string, number>>;
}

/** The environment of an operator, without settings of ours. */
export function operatorEnv(env: Env): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('STRONGROOM_'));
  return { ...Object.fromEntries(own), ...QUIET_START, ...env };
}

/** The product with several processes, in a process group of its own as at a terminal. Its output goes to a file. */
export async function launchWorkers(folder: string, env: Env): Promise<WorkerServer> {
  const path = join(folder, `${performance.now()}.out`);
  const output = openSync(path, 'a');
  const metricsPort = await freePort();
  placePreparedData(env);
  const child = spawn(process.execPath, [MAIN, 'serve'], {
    env: operatorEnv({ STRONGROOM_PORT: '0', STRONGROOM_METRICS_PORT: String(metricsPort), ...env }),
    stdio: ['ignore', output, output],
    detached: true,
  });
  closeSync(output);
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? signal)),
  );
  const shown = (): string => readFileSync(path, 'utf8');
  const lines = (msg: string): Record<string, unknown>[] =>
    shown()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith(`"msg":"${msg}"}`))
      .map((line) => JSON.parse(line));
  const metricsUrl = `http://127.0.0.1:${metricsPort}/metrics`;
  return {
    child,
    pid: child.pid ?? assert.fail('it was started'),
    ended,
    metricsUrl,
    shown,
    lines,
    async ready() {
      await eventually(
        'ready',
        () => lines('ready').length > 0 || (child.exitCode !== null && assert.fail(shown())),
        START_HANGS_MS,
      );
      return String(lines('ready')[0]?.address);
    },
    workers: () => new Map(lines('a worker listens').map(({ worker, pid }) => [Number(worker), Number(pid)])),
    async scrape() {
      const text = await (await fetch(metricsUrl)).text();
      const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
      return new Map(samples.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
    },
  };
}

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

export interface Connection {
  /** Sends over the same connection each time, and returns the status: 0 if the connection broke. */
  send(method: string, path: string, headers?: Env, body?: unknown): Promise<number>;
  close(): void;
}

/** One kept connection, which stays with the worker that it was given to. */
export function openConnection(baseUrl: string): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: (method, path, headers = {}, body = undefined) =>
      new Promise((resolve) => {
        const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
        const sent = request(`${baseUrl}${path}`, { method, agent, headers: { ...headers, ...type } }, (response) => {
          response.resume();
          response.once('end', () => resolve(response.statusCode ?? 0));
          response.once('error', () => resolve(0));
        });
        sent.once('error', () => resolve(0));
        sent.end(body === undefined ? undefined : JSON.stringify(body));
      }),
    close: () => agent.destroy(),
  };
}

export interface HeldChange {
  /** 0 if the connection broke. */
  readonly status: Promise<number>;
  finish(): void;
}

/** A request that is told apart by what it changes. */
export interface ChangeRequest {
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly body: string;
}

const RENAMING: ChangeRequest = { method: 'PUT', path: '/tenants/self', body: '{"name":"Finished"}' };

/** A change whose body is kept back: it is under way until it is finished. */
export function holdChange(
  address: string,
  key: string,
  extra: Env = {},
  change: ChangeRequest = RENAMING,
): HeldChange {
  const { method, path, body } = change;
  const headers = { ...extra, 'SVC-API-KEY': key, 'Content-Type': 'application/json', 'Content-Length': body.length };
  const sent = request(`${address}${path}`, { method, headers, agent: false });
  sent.flushHeaders();
  const status = new Promise<number>((resolve) => {
    sent.once('error', () => resolve(0));
    sent.once('response', (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
  });
  return { status, finish: () => void sent.end(body) };
}
