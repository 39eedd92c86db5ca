import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ConnectionTarget } from '../storage/connection.js';
import { distribute, openWorkingRoles } from '../storage/distribution/distribute.js';
import { migrate } from '../storage/migrate.js';
import { withdrawPublicRights } from '../storage/owner-rights.js';
import { sharedServer } from './shared-server.js';

export interface TestDatabase {
  /** As the service signs in. */
  readonly target: ConnectionTarget;
  /** As the owner, past every wall: for looking at what is really stored. */
  readonly owner: pg.Client;
  readonly ownerTarget: ConnectionTarget;
  /** Its tables are spread over the servers of a cluster. */
  readonly isDistributed?: boolean | undefined;
  drop(): Promise<void>;
}

interface ServerAddress {
  readonly socketDir: string;
  readonly port: number;
}

const OWNER = 'strongroom_owner';
const LOGIN = 'strongroom';
const TEMPLATE = 'strongroom_template';

/** A database of its own with the current schema, copied from a template in a few dozen milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { socketDir, port, workers } = sharedServer();
  const servers = [{ socketDir, port }, ...workers];
  const isDistributed = workers.length > 0;
  const address = (database: string, user: string) => ({ socketDir, port, database, user });
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asOwner({ socketDir, port }, 'postgres', async (client) => {
    await client.query('SELECT pg_advisory_lock(1)');
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
    if (found.rows.length === 0) await makeTemplate(servers, `${TEMPLATE}_new`, address(`${TEMPLATE}_new`, OWNER));
    await onEach(servers, (server) => copyTemplate(server, database));
  });
  const owner = new pg.Client({ host: socketDir, port, user: OWNER, database });
  owner.on('error', () => {});
  await owner.connect();
  // Rights on a database are not copied with its template.
  await withdrawPublicRights(owner);
  return {
    target: address(database, LOGIN),
    owner,
    ownerTarget: address(database, OWNER),
    isDistributed,
    async drop() {
      await owner.end();
      await onEach(servers, async (client) => {
        await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
      });
    },
  };
}

/** On a cluster each server has its part of the template, with what it knows of the others. */
async function makeTemplate(
  servers: readonly ServerAddress[],
  name: string,
  owner: ServerAddress & { readonly database: string; readonly user: string },
): Promise<void> {
  await onEach(servers, async (client) => {
    await client.query(`CREATE DATABASE ${name}`);
  });
  const [, ...workers] = servers;
  if (workers.length > 0) {
    for (const server of [...workers, owner]) {
      await asOwner(server, name, async (client) => {
        await client.query('CREATE EXTENSION citus');
      });
    }
    await asOwner(owner, name, async (client) => {
      await client.query(`SELECT citus_set_coordinator_host('127.0.0.1', $1)`, [owner.port]);
      for (const { port } of workers) await client.query(`SELECT citus_add_node('127.0.0.1', $1)`, [port]);
    });
  }
  await migrate({ owner, login: LOGIN, createLogin: true });
  if (workers.length > 0) {
    await distribute(owner);
    await openWorkingRoles(owner);
  }
  await onEach(servers, async (client) => {
    // Citus keeps a process in every database that it knows.
    await client.query(`ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS false`);
    await client.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1', [name]);
    await client.query(`ALTER DATABASE ${name} RENAME TO ${TEMPLATE}`);
  });
}

async function copyTemplate(client: pg.Client, database: string): Promise<void> {
  // Copying files takes an eighth of the time of writing each page through the log, which is the default.
  await client.query(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATE} STRATEGY file_copy`);
}

async function onEach(servers: readonly ServerAddress[], act: (client: pg.Client) => Promise<void>): Promise<void> {
  await Promise.all(servers.map((server) => asOwner(server, 'postgres', act)));
}

async function asOwner(
  { socketDir, port }: ServerAddress,
  database: string,
  act: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ host: socketDir, port, user: OWNER, database });
  client.on('error', () => {});
  await client.connect();
  try {
    await act(client);
  } finally {
    await client.end();
  }
}
