import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ConnectionTarget } from '../storage/connection.js';
import { migrate } from '../storage/migrate.js';
import { withdrawPublicRights } from '../storage/owner-rights.js';
import { sharedServer } from './shared-server.js';

export interface TestDatabase {
  /** As the service signs in. */
  readonly target: ConnectionTarget;
  /** As the owner, past every wall: for looking at what is really stored. */
  readonly owner: pg.Client;
  readonly ownerTarget: ConnectionTarget;
  drop(): Promise<void>;
}

const OWNER = 'strongroom_owner';
const LOGIN = 'strongroom';
const TEMPLATE = 'strongroom_template';

/** A database of its own with the current schema, copied from a template in a few dozen milliseconds. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const { socketDir, port } = sharedServer();
  const address = (database: string, user: string) => ({ socketDir, port, database, user });
  const database = `test_${randomBytes(6).toString('hex')}`;
  await asOwner('postgres', async (client) => {
    await client.query('SELECT pg_advisory_lock(1)');
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [TEMPLATE]);
    if (found.rows.length === 0) {
      await client.query(`CREATE DATABASE ${TEMPLATE}_new`);
      await migrate({ owner: address(`${TEMPLATE}_new`, OWNER), login: LOGIN, createLogin: true });
      await client.query(`ALTER DATABASE ${TEMPLATE}_new RENAME TO ${TEMPLATE}`);
    }
    await client.query(`CREATE DATABASE ${database} TEMPLATE ${TEMPLATE}`);
  });
  const owner = new pg.Client({ host: socketDir, port, user: OWNER, database });
  owner.on('error', () => {});
  await owner.connect();
  // Rights on a database are not copied with its template.
  await withdrawPublicRights(owner);

  async function asOwner(name: string, act: (client: pg.Client) => Promise<void>): Promise<void> {
    const client = new pg.Client({ host: socketDir, port, user: OWNER, database: name });
    await client.connect();
    try {
      await act(client);
    } finally {
      await client.end();
    }
  }

  return {
    target: address(database, LOGIN),
    owner,
    ownerTarget: address(database, OWNER),
    async drop() {
      await owner.end();
      await asOwner('postgres', async (client) => {
        await client.query(`DROP DATABASE ${database} WITH (FORCE)`);
      });
    },
  };
}
