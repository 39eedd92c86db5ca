import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';
import { ask, createTokens } from '../beside-load.js';
import { textAt } from '../plan.js';
import type { Round, Scenario } from '../scenario.js';
import { asSuperuser } from '../superuser.js';
import { makeTenant } from '../tenants.js';

const TOKENS = { short: 600, long: 10_000 };
const GONE_MAX_MS = 60_000;
const POLL_MS = 200;

/** Nobody has to run anything again: the nodes find what is left of a deleted tenant by themselves. */
export const purgeKill: Scenario = {
  name: 'purge-kill',
  about: 'kill -9 of every node while a deleted tenant is purged; nothing of it stays but its log',
  needs: [],
  shortCount: 1,
  longCount: 20,
  load: { workersPerTenant: 1, pauseMs: [20, 100] },
  async inject(round) {
    const { cluster } = round;
    const tenant = await makeTenant(cluster.settings, cluster.nodes[0]?.port ?? 0, 92);
    await createTokens(round, tenant, round.isLong ? TOKENS.long : TOKENS.short);
    const words = ['application', 'create', '--tenant', tenant.id, '--type', 'management', '--permission'];
    const made = await cluster.command(...words, 'tenant:delete', '--json');
    const ending = await ask(round, 0, 'DELETE', '/tenants/self', textAt(JSON.parse(made.stdout), 'key'));
    if (ending.kind !== 'answered' || ending.status !== 204) round.violate(`not deleted: ${JSON.stringify(ending)}`);
    await round.pause(0, round.isLong ? 1_000 : 200);
    await Promise.all(cluster.nodes.map((node) => node.end('SIGKILL')));
    return async () => {
      await Promise.all(cluster.nodes.map((node) => node.start()));
      await untilGone(round, tenant.id);
    };
  },
};

async function untilGone(round: Round, tenantId: string): Promise<void> {
  await asSuperuser(round.cluster.postgres, async (client) => {
    const tables = await tenantTables(client);
    const deadlineMs = performance.now() + GONE_MAX_MS;
    for (;;) {
      const left: string[] = [];
      for (const table of tables) if ((await countRows(client, table, tenantId)) > 0) left.push(table);
      if (left.length === 0) break;
      if (performance.now() > deadlineMs) return round.violate(`rows of a deleted tenant stay in ${left.join(', ')}`);
      await wait(POLL_MS);
    }
    // Each token has its entry, and the log outlives the tenant.
    const entries = await countRows(client, 'logs', tenantId);
    if (entries < TOKENS.short) round.violate(`of the log of a deleted tenant ${entries} entries stay`);
  });
}

async function tenantTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'logs'
       AND c.relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

async function countRows(client: pg.Client, table: string, tenantId: string): Promise<number> {
  const { rows } = await client.query<{ n: number }>(`SELECT count(*)::int AS n FROM "${table}" WHERE tenant_id = $1`, [
    tenantId,
  ]);
  return rows[0]?.n ?? 0;
}
