import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { EXIT, ExitError } from '../../kernel/exit.js';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  type ServerAddress,
  startEmbeddedServer,
} from './embedded-server.js';

export type Defer = (action: () => unknown) => void;

/** The hooks of a test run in the order of their making, and a folder must go after the server in it. */
export function lastFirst(t: TestContext): Defer {
  const actions: (() => unknown)[] = [];
  t.after(async () => {
    for (const action of actions.reverse()) await action();
  });
  return (action) => actions.push(action);
}

/** A short path that other accounts may enter, whatever the temporary folder of this user is. */
export async function temporaryFolder(defer: Defer): Promise<string> {
  const path = await mkdtemp('/tmp/sr-');
  defer(() => rm(path, { recursive: true, force: true, maxRetries: 5 }));
  return path;
}

/** A server that ends with its test, if the test has not ended it before. */
export async function startFor(
  defer: Defer,
  dataDir: string,
  options: Partial<EmbeddedServerOptions> = {},
): Promise<EmbeddedServer> {
  const server = await startEmbeddedServer({ dataDir, command: 'strongroom test', log: () => {}, ...options });
  defer(() => server.stop());
  return server;
}

export async function query(server: ServerAddress, sql: string): Promise<unknown[][]> {
  const { socketDir, port, ownerRole, database } = server;
  const client = new Client({ host: socketDir, port, user: ownerRole, database });
  // A server that is killed ends the connection between two statements too.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' });
    return rows;
  } finally {
    await client.end();
  }
}

/** For assert.rejects: the failure ends the process with this code and says this. */
export function exits(code: keyof typeof EXIT, story: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof ExitError && error.exitCode === EXIT[code] && story.test(error.message);
}

export interface HoldingProcess {
  readonly process: ChildProcess;
  /** `ready`, or the message of the failure. */
  readonly firstLine: string;
}

/** Another process that starts the server and holds it until it is killed. */
export async function spawnHolder(
  defer: Defer,
  dataDir: string,
  wrapper: readonly string[] = [],
): Promise<HoldingProcess> {
  const program = fileURLToPath(new URL('./holder-program.js', import.meta.url));
  const [command = process.execPath, ...args] = [...wrapper, process.execPath, program, dataDir];
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  defer(() => child.kill('SIGKILL'));
  const [firstLine] = await once(createInterface({ input: child.stdout }), 'line');
  return { process: child, firstLine: String(firstLine) };
}
