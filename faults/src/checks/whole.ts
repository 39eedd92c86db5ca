import type pg from 'pg';
import type { Cluster } from '../cluster.js';
import { textAt } from '../plan.js';
import { readAll } from './api.js';

/** After the last round: everything opens, lists show all of it once, and nobody sees what is not theirs. */
export async function checkWhole(cluster: Cluster, client: pg.Client, violate: (text: string) => void): Promise<void> {
  const verified = await cluster.command('keys', 'verify');
  if (verified.code !== 0) violate(`keys verify ended with ${verified.code}: ${verified.stdout} ${verified.stderr}`);
  for (const tenant of cluster.tenants) {
    const tokens = await readAll(cluster, tenant.tokenKey, '/v2/tokens?size=100');
    await compare(client, 'tokens', tenant.id, tokens, violate);
    const logs = await readAll(cluster, tenant.managementKey, '/logs?size=1000&include=details');
    await compare(client, 'logs', tenant.id, logs, violate);
    const foreign = logs.filter((item) => /-t(\d+)w/.test(textAt(item, 'trace_id')) && !isOwn(item, tenant.index));
    if (foreign.length > 0) violate(`tenant ${tenant.index} sees entries of operations of others: ${foreign.length}`);
  }
}

function isOwn(item: unknown, tenant: number): boolean {
  return textAt(item, 'trace_id').includes(`-t${tenant}w`);
}

async function compare(
  client: pg.Client,
  table: 'tokens' | 'logs',
  tenantId: string,
  shown: readonly unknown[],
  violate: (text: string) => void,
): Promise<void> {
  const { rows } = await client.query<{ id: string }>(`SELECT id::text AS id FROM ${table} WHERE tenant_id = $1`, [
    tenantId,
  ]);
  const stored = new Set(rows.map(({ id }) => id));
  const ids = new Set(shown.map((item) => textAt(item, 'id')));
  if (ids.size !== shown.length) violate(`${table}: a list by cursor shows rows twice`);
  if (shown.some((item) => textAt(item, 'tenant_id') !== tenantId))
    violate(`${table}: rows of another tenant are shown`);
  const missing = [...ids].filter((id) => !stored.has(id));
  if (missing.length > 0) violate(`${table}: rows are shown that are not stored: ${missing.length}`);
  // Nothing is written any more: reading tokens is logged, but that was done before the log is read.
  if (ids.size !== stored.size) violate(`${table}: ${stored.size} stored, ${ids.size} shown`);
}
