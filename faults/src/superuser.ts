import type { PostgresServer } from '@strongroom/test-servers/postgres.js';
import type pg from 'pg';

/** One connection past the product and its rights, for as long as the act takes; it may be broken by then. */
export async function asSuperuser<T>(
  postgres: PostgresServer,
  act: (client: pg.Client) => Promise<T>,
  database?: string,
): Promise<T> {
  const client = await postgres.connect(database);
  try {
    return await act(client);
  } finally {
    await client.end().catch(() => {});
  }
}

export async function runAsSuperuser(postgres: PostgresServer, sql: string): Promise<void> {
  await asSuperuser(postgres, (client) => client.query(sql));
}
