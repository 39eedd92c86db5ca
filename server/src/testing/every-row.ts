import type { TestApp } from './test-app.js';

/** Every row of every table, as text. What changed between two of these is what a request wrote. */
export async function everyRow(app: TestApp): Promise<Readonly<Record<string, string[]>>> {
  const tables = await app.db.owner.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class AS c
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1`,
  );
  const rows: Record<string, string[]> = {};
  for (const { name } of tables.rows) {
    // When a key was last used is written later, by a job of its own.
    const row = `(to_jsonb(t) - 'last_used_at')::text`;
    const { rows: found } = await app.db.owner.query<{ row: string }>(`SELECT ${row} AS row FROM ${name} AS t`);
    rows[name] = found.map(({ row }) => row).sort();
  }
  return rows;
}
