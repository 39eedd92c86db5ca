import pg from 'pg';
import { sharedServer } from './shared-server.js';
import type { TestApp } from './test-app.js';

type Query = (this: unknown, first: unknown, ...rest: unknown[]) => unknown;

// The driver's own method, with as much of its type as is needed to pass a call on.
const driver = pg.Client.prototype as unknown as { query: Query };
const originalQuery = driver.query;

/** Takes down the first wall for every statement of this process, and tells which statements it touched. */
export interface StatementWall {
  readonly widened: ReadonlySet<string>;
  restore(): void;
}

/** From here on the product's statements no longer ask for one tenant: the condition holds for every row. */
export function statementWallOff(): StatementWall {
  const isDistributed = sharedServer().workers.length > 0;
  const widened = new Set<string>();
  driver.query = function (this: unknown, first: unknown, ...rest: unknown[]) {
    if (typeof first !== 'object' || first === null || !('name' in first) || !('text' in first)) {
      return originalQuery.call(this, first, ...rest);
    }
    const text = String(first.text)
      .replaceAll(/(?<![\w.])(?:\w+\.)?(?:tenant_id|id) = \$1(?!\d)/g, '$1::uuid IS NOT NULL')
      .replaceAll(/\w+\.tenant_id = (?:given|found)\.tenant_id/g, 'true')
      // What is found passes for the tenant's own, so that nobody notices by looking at the row.
      .replace(
        /SELECT t\.tenant_id(?=(?:(?!SELECT)[\s\S])*? FROM (?:unnest\([^()]*\) AS given|tokens AS t\s+WHERE \$1::uuid IS))/,
        isDistributed ? 'SELECT $1::uuid AS tenant_id' : 'SELECT given.tenant_id',
      );
    // What looks for one row is told apart on a distributed database alone.
    if (text !== first.text) widened.add(String(first.name).replace(/_alone$/, ''));
    return originalQuery.call(this, { ...first, text }, ...rest);
  };
  return {
    widened,
    restore() {
      driver.query = originalQuery;
    },
  };
}

/** The same for what functions in the database ask. */
export async function functionWallOff({ db }: TestApp): Promise<void> {
  const found = await db.owner.query<{ text: string }>(
    `SELECT pg_get_functiondef(oid) AS text FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND prosrc LIKE '%for_tenant%'`,
  );
  for (const { text } of found.rows) {
    await db.owner.query(text.replaceAll(/\w+\.tenant_id = for_tenant/g, 'for_tenant IS NOT NULL'));
  }
}

/** Takes down the second wall in one database. */
export async function rowSecurityOff({ db }: TestApp): Promise<void> {
  const tables = await db.owner.query<{ name: string }>('SELECT relname AS name FROM pg_class WHERE relrowsecurity');
  for (const { name } of tables.rows) await db.owner.query(`ALTER TABLE ${name} DISABLE ROW LEVEL SECURITY`);
}
