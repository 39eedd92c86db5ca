import type pg from 'pg';

/** Of a deleted tenant the log stays and nothing else. */
const OF_LIVING = 'tenant_id IN (SELECT n.id FROM tenants n WHERE n.deleted_at IS NULL)';

/**
 * What holds in the database at every moment, whoever wrote and whatever broke. Each statement finds what contradicts it,
 * as a superuser, past every wall.
 */
const INVARIANTS: Readonly<Record<string, string>> = {
  'a search term without its token, or a token without its term': `
    WITH wanted AS (
      SELECT tenant_id, substring(terms FROM n * 16 + 1 FOR 16) AS term, created_at, tie
      FROM tokens, generate_series(0, length(terms) / 16 - 1) AS n)
    (SELECT tenant_id, encode(term, 'hex') FROM (SELECT tenant_id, term, created_at, tie FROM token_terms
      EXCEPT SELECT tenant_id, term, created_at, tie FROM wanted) AS extra)
    UNION ALL
    (SELECT tenant_id, encode(term, 'hex') FROM (SELECT tenant_id, term, created_at, tie FROM wanted
      EXCEPT SELECT tenant_id, term, created_at, tie FROM token_terms) AS missing)`,
  'a group whose count is not that of its tokens': `
    SELECT tenant_id, group_id::text FROM (SELECT tenant_id, group_id, sum(count) AS count FROM token_groups GROUP BY 1, 2) AS g
    FULL JOIN (SELECT tenant_id, group_id, count(*) AS real FROM tokens GROUP BY 1, 2) AS t USING (tenant_id, group_id)
    WHERE coalesce(count, 0) <> coalesce(real, 0)`,
  'a month whose active tokens are not those in the log': `
    SELECT tenant_id, month::text || ' counted ' || coalesce(counted, 0) || ' found ' || coalesce(real, 0)
    FROM (SELECT tenant_id, month, sum(count) AS counted FROM active_token_counts GROUP BY 1, 2) AS c
    FULL JOIN (
      SELECT tenant_id, month, sum(n) AS real FROM (
        SELECT tenant_id, month, count(*) AS n FROM active_tokens GROUP BY 1, 2
        UNION ALL
        SELECT tenant_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, count(*) FROM logs
        WHERE ${OF_LIVING} AND operation = 'create' AND entity_type NOT IN ('tenant', 'application', 'session', 'reactor') GROUP BY 1, 2
      ) AS parts GROUP BY 1, 2) AS r USING (tenant_id, month)
    WHERE coalesce(counted, 0) <> coalesce(real, 0)`,
  'a token without exactly one entry of its making': `
    SELECT t.tenant_id, t.id FROM tokens t
    LEFT JOIN (SELECT tenant_id, entity_id, count(*) AS n FROM logs
               WHERE operation = 'create' AND entity_type NOT IN ('tenant', 'application', 'session', 'reactor') GROUP BY 1, 2) AS l
      ON l.tenant_id = t.tenant_id AND l.entity_id = t.id
    WHERE coalesce(l.n, 0) <> 1`,
  'an entry of making without a token or an entry of its end': `
    SELECT l.tenant_id, l.entity_id FROM logs l
    WHERE ${OF_LIVING} AND l.operation = 'create' AND l.entity_type NOT IN ('tenant', 'application', 'session', 'reactor')
      AND NOT EXISTS (SELECT FROM tokens t WHERE t.tenant_id = l.tenant_id AND t.id = l.entity_id)
      AND NOT EXISTS (SELECT FROM logs d WHERE d.tenant_id = l.tenant_id AND d.entity_type = l.entity_type
                      AND d.entity_id = l.entity_id AND d.operation = 'delete')`,
  'a token that is there although the log says it went': `
    SELECT t.tenant_id, t.id FROM tokens t JOIN logs d
      ON d.tenant_id = t.tenant_id AND d.entity_type = t.type AND d.entity_id = t.id AND d.operation = 'delete'`,
  'an application without exactly one key': `
    SELECT a.tenant_id, a.id::text FROM applications a LEFT JOIN api_keys k
      ON k.tenant_id = a.tenant_id AND k.application_id = a.id
    GROUP BY a.tenant_id, a.id HAVING count(k.id) <> 1`,
  'an application without exactly one entry of its making': `
    SELECT a.tenant_id, a.id::text FROM applications a LEFT JOIN logs l
      ON l.tenant_id = a.tenant_id AND l.entity_type = 'application' AND l.entity_id = a.id::text AND l.operation = 'create'
    GROUP BY a.tenant_id, a.id HAVING count(l.id) <> 1`,
  'an entry of a tenant that is not there': `
    SELECT DISTINCT l.tenant_id, '' FROM logs l WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.id = l.tenant_id)`,
};
/** The same for a database that Citus has spread: the key is on a worker, the directory on the coordinator. */
const INVARIANTS_OF_SPREAD: typeof INVARIANTS = {
  'a key that the directory does not lead to': `
    SELECT k.tenant_id, k.id::text FROM api_keys k
    WHERE NOT EXISTS (SELECT FROM credential_directory d WHERE d.tenant_id = k.tenant_id AND d.hash = k.hash)`,
};
const SHOWN_MAX = 5;

/** Its mark, its round and its value: a token of the load is found by all three, whatever its row and its terms agree on. */
const TERM_BYTES = 3 * 16;
const LOAD_TOKENS_WITH_OTHER_TERMS = `
  SELECT t.tenant_id, t.id FROM tokens t
  JOIN logs l ON l.tenant_id = t.tenant_id AND l.entity_id = t.id AND l.entity_type = 'token' AND l.operation = 'create'
  WHERE starts_with(l.trace_id, $1) AND l.trace_id ~ '-t[0-9]+w[0-9]+n[0-9]+[.][0-9]+$' AND length(t.terms) <> $2`;

export async function checkTerms(client: pg.Client, roundId: string, violate: (text: string) => void): Promise<void> {
  const { rows } = await client.query(LOAD_TOKENS_WITH_OTHER_TERMS, [`${roundId}-`, TERM_BYTES]);
  if (rows.length > 0) violate(`database: tokens of the load without exactly three search terms: ${rows.length}`);
}

export async function checkInvariants(
  client: pg.Client,
  isSpread: boolean,
  violate: (text: string) => void,
): Promise<void> {
  for (const [name, sql] of Object.entries({ ...INVARIANTS, ...(isSpread && INVARIANTS_OF_SPREAD) })) {
    const { rows } = await client.query({ text: sql, rowMode: 'array' });
    if (rows.length === 0) continue;
    const shown = rows.slice(0, SHOWN_MAX).map((row) => row.join(' '));
    violate(`database: ${name}: ${rows.length} (${shown.join('; ')})`);
  }
}
