import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedServer } from '../storage/embedded/embedded-server.js';

/** Where the tests find the server of this run: `socketDir:port`. */
export const SHARED_SERVER_VARIABLE = 'TEST_POSTGRES';

export interface SharedServer {
  readonly socketDir: string;
  readonly port: number;
}

/** Tests of what PostgreSQL stores do not need it to survive a power cut; those about crashes start their own server. */
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' };

/** Starts a server in a temporary folder. It ends with the process that started it. */
export async function startSharedServer(): Promise<SharedServer & { stop(): Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sr-test-'));
  const server = await startEmbeddedServer({ dataDir, command: 'tests', log: () => {}, settings: SETTINGS });
  return {
    socketDir: server.socketDir,
    port: server.port,
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The server of this run. */
export function sharedServer(): SharedServer {
  const [socketDir, port] = (process.env[SHARED_SERVER_VARIABLE] ?? '').split(':');
  if (!socketDir || !port)
    throw new Error('there is no test database; run this file with: npm test -- <part of its path>');
  return { socketDir, port: Number(port) };
}
