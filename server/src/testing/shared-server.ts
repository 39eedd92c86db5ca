import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCitus } from '@strongroom/test-servers/citus.js';
import { startEmbeddedServer } from '../storage/embedded/embedded-server.js';

/** Where the tests find the server of this run: `socketDir:port`, and behind commas those of the workers of a cluster. */
export const SHARED_SERVER_VARIABLE = 'TEST_POSTGRES';

export interface SharedServer {
  readonly socketDir: string;
  readonly port: number;
  /** The other servers of a Citus cluster; none where the tests have a server alone. */
  readonly workers: readonly { readonly socketDir: string; readonly port: number }[];
}

/** Tests of what PostgreSQL stores do not need it to survive a power cut; those about crashes start their own server. */
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '200',
};
/** A file system in memory, and the room that the databases of a run need in it. */
const MEMORY = '/dev/shm';
const ROOM_BYTES = 4 * 1024 ** 3;

/** Starts a server in a temporary folder, or a cluster. It ends with the process that started it. */
export async function startSharedServer(isCluster: boolean): Promise<SharedServer & { stop(): Promise<void> }> {
  if (isCluster) return startSharedCluster();
  const dataDir = await mkdtemp(join(await roomyFolder(), 'sr-test-'));
  const server = await startEmbeddedServer({ dataDir, command: 'tests', log: () => {}, settings: SETTINGS });
  return {
    socketDir: server.socketDir,
    port: server.port,
    workers: [],
    async stop() {
      await server.stop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Making hundreds of databases on a disk takes a third of the processor time of the whole server. */
async function roomyFolder(): Promise<string> {
  const room = await statfs(MEMORY).catch(() => undefined);
  return room !== undefined && room.bavail * room.bsize >= ROOM_BYTES ? MEMORY : tmpdir();
}

/** A table is one shard where a statement without its tenant has to work all the same, as with a wall taken down. */
async function startSharedCluster(): Promise<SharedServer & { stop(): Promise<void> }> {
  const shards = process.env.TEST_CITUS_SHARDS ?? '4';
  const { coordinator, workers, remove } = await startCitus({
    settings: { ...SETTINGS, max_connections: '400', 'citus.shard_count': shards },
  });
  for (const server of [coordinator, ...workers]) {
    const client = await server.connect('postgres');
    // As on the embedded server: tests look past every wall as the owner.
    await client.query('ALTER ROLE strongroom_owner SUPERUSER');
    await client.end();
  }
  const addressOf = ({ dataDir, port }: typeof coordinator) => ({ socketDir: dataDir, port });
  return { ...addressOf(coordinator), workers: workers.map(addressOf), stop: remove };
}

/** As the variable has it. */
export function describeShared({ socketDir, port, workers }: SharedServer): string {
  return [{ socketDir, port }, ...workers].map((server) => `${server.socketDir}:${server.port}`).join(',');
}

/** The server of this run. */
export function sharedServer(): SharedServer {
  const [first, ...workers] = (process.env[SHARED_SERVER_VARIABLE] ?? '').split(',').map((server) => {
    const [socketDir = '', port] = server.split(':');
    return { socketDir, port: Number(port) };
  });
  if (!first?.socketDir)
    throw new Error('there is no test database; run this file with: npm test -- <part of its path>');
  return { ...first, workers };
}
