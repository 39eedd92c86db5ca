import type { Cluster } from './cluster.js';
import type { Settings } from './product.js';
import { runAsSuperuser } from './superuser.js';

/** An empty database beside the one the load works on, and the settings of a command on it. */
export interface SideDatabase {
  readonly name: string;
  readonly settings: Settings;
  drop(): Promise<void>;
}

export async function makeDatabase(cluster: Cluster, name: string): Promise<SideDatabase> {
  await runAsSuperuser(cluster.postgres, `CREATE DATABASE ${name} OWNER strongroom_owner`);
  return {
    name,
    settings: {
      ...cluster.settings,
      STRONGROOM_DATABASE_URL: cluster.postgres.url('service', name),
      STRONGROOM_MIGRATION_DATABASE_URL: cluster.postgres.url('owner', name),
    },
    drop: () => runAsSuperuser(cluster.postgres, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}
