import type pg from 'pg';

/** What the invariants look at. */
const TABLES = [
  ...['tenants', 'applications', 'api_keys', 'tokens', 'token_terms', 'token_groups'],
  ...['active_tokens', 'active_token_counts', 'logs', 'credential_directory'],
];

/**
 * For a database that is spread: the invariants join and compare tables in ways that are for one server. Each table is
 * copied to a temporary one of the same name, which comes before it for this connection. Nothing may write meanwhile.
 */
export async function copyTables(client: pg.Client): Promise<void> {
  for (const table of TABLES) {
    await client.query(`DROP TABLE IF EXISTS pg_temp.${table}`);
    await client.query(`CREATE TEMPORARY TABLE ${table} AS SELECT * FROM public.${table}`);
    await client.query(`ANALYZE pg_temp.${table}`);
  }
}
