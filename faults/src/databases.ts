import type { Cluster } from './cluster.js';
import type { Settings } from './product.js';

/** An empty database beside the one the load works on, and the settings of a command on it. */
export interface SideDatabase {
  readonly name: string;
  readonly settings: Settings;
  drop(): Promise<void>;
}

export async function makeDatabase(cluster: Cluster, name: string): Promise<SideDatabase> {
  await asSuperuser(cluster, `CREATE DATABASE ${name} OWNER strongroom_owner`);
  return {
    name,
    settings: {
      ...cluster.settings,
      STRONGROOM_DATABASE_URL: cluster.postgres.url('service', name),
      STRONGROOM_MIGRATION_DATABASE_URL: cluster.postgres.url('owner', name),
    },
    drop: () => asSuperuser(cluster, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

async function asSuperuser(cluster: Cluster, sql: string): Promise<void> {
  const client = await cluster.postgres.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
