import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import { DATABASE, startPostgres } from '@strongroom/test-servers/postgres.js';
import { startStandby } from '@strongroom/test-servers/standby.js';
import type pg from 'pg';
import { generateRootKey } from '../crypto/root-key.js';
import type { Secret } from '../kernel/secret.js';
import type { SocketTarget } from '../storage/connection.js';
import { migrate } from '../storage/migrate.js';
import { connectAs } from './empty-database.js';
import { eventually } from './eventually.js';
import type { TestApp, TestTenant } from './test-app.js';
import type { TestDatabase } from './test-database.js';

/** A primary with our schema and a streaming standby of it, for `startTestApp({ beside, replica })`. */
export interface Replicated {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
  readonly beside: { readonly db: TestDatabase; readonly rootKey: Secret<string> };
  readonly replica: SocketTarget;
  /** Superusers on either. */
  readonly onPrimary: pg.Client;
  readonly onStandby: pg.Client;
  close(): Promise<void>;
}

const LOGIN = 'strongroom';

export async function startReplicated(settings: Readonly<Record<string, string>> = {}): Promise<Replicated> {
  const primary = await startPostgres();
  const ownerTarget = loginTarget(primary, 'strongroom_owner');
  await migrate({ owner: ownerTarget, login: LOGIN, createLogin: false });
  const standby = await startStandby(primary, 'reader', settings);
  // The owner of the schema sees no tenant's rows here: only on the embedded server is it a superuser.
  const owner = await connectAs(loginTarget(primary, 'postgres'));
  const onPrimary = await primary.connect();
  const onStandby = await standby.connect();
  const db: TestDatabase = { target: loginTarget(primary), owner, ownerTarget, drop: async () => {} };
  return {
    primary,
    standby,
    beside: { db, rootKey: generateRootKey() },
    replica: loginTarget(standby),
    onPrimary,
    onStandby,
    async close() {
      await Promise.allSettled([owner.end(), onPrimary.end(), onStandby.end()]);
      await standby.remove();
      await primary.remove();
    },
  };
}

export function loginTarget({ dataDir, port }: PostgresServer, user = LOGIN): SocketTarget {
  return { socketDir: dataDir, port, user, database: DATABASE };
}

/** The first look at a replica is in the background. */
export async function untilServing(app: TestApp, tenant: TestTenant): Promise<void> {
  const isServing = async () => {
    await app.call('GET', '/logs', { key: tenant.key });
    return app.database.replicaFigures()?.isServing === true;
  };
  await eventually('the replica serves', isServing);
}
