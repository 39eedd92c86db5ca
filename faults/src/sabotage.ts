import type { Scenario } from './scenario.js';
import { asSuperuser } from './superuser.js';

/** What a hand in the database does behind everybody's back, and how the checks must call it. */
export interface Sabotage {
  readonly name: string;
  readonly sql: string;
  readonly expected: RegExp;
}

const NEWEST_ENTRY = `SELECT tenant_id, created_at, id FROM logs WHERE starts_with(trace_id, $1) ORDER BY created_at DESC LIMIT 1`;

export const SABOTAGES: readonly Sabotage[] = [
  {
    name: 'a token is taken away',
    sql: `DELETE FROM tokens t USING (${NEWEST_ENTRY.replace('logs WHERE', "logs WHERE operation = 'create' AND entity_type = 'token' AND")}) AS e, logs l
          WHERE l.tenant_id = e.tenant_id AND l.created_at = e.created_at AND l.id = e.id
            AND t.tenant_id = l.tenant_id AND t.id = l.entity_id`,
    expected: /is lost|answered 404|answered 400 unknown_token|did not find/,
  },
  {
    name: 'an entry is taken away',
    sql: `DELETE FROM logs l USING (${NEWEST_ENTRY}) AS e
          WHERE l.tenant_id = e.tenant_id AND l.created_at = e.created_at AND l.id = e.id`,
    expected: /not in the log as acknowledged|half in the log/,
  },
  {
    name: 'an entry is there twice',
    sql: `INSERT INTO logs SELECT l.tenant_id, l.created_at, gen_random_uuid(), l.actor_type, l.actor_id, l.entity_type,
            l.entity_id, l.operation, l.message, l.outcome, l.source_address, l.trace_id
          FROM logs l JOIN (${NEWEST_ENTRY}) AS e USING (tenant_id, created_at, id)`,
    expected: /not in the log as acknowledged/,
  },
  {
    name: 'a counter is off by one',
    sql: `UPDATE token_groups SET count = count + 1
          WHERE (tenant_id, group_id, slot) = (SELECT tenant_id, group_id, slot FROM token_groups WHERE $1 <> '' LIMIT 1)`,
    expected: /a group whose count is not that of its tokens/,
  },
  {
    name: 'a search term is taken away',
    sql: `DELETE FROM token_terms
          WHERE (tenant_id, term) = (SELECT tenant_id, term FROM token_terms WHERE $1 <> '' ORDER BY created_at LIMIT 1)`,
    expected: /a search term without its token, or a token without its term/,
  },
];

/** No fault at all, but all of the above: proof that the checks can fail. */
export const sabotage: Scenario = {
  name: 'sabotage',
  about: 'rows are altered by hand, which the checks must find out',
  needs: [],
  shortCount: 0,
  longCount: 0,
  async inject(round) {
    await asSuperuser(round.cluster.postgres, async (client) => {
      for (const { name, sql } of SABOTAGES) {
        const { rowCount } = await client.query(sql, [`${round.id}-`]);
        if (rowCount === 0) throw new Error(`nothing to alter: ${name}`);
      }
    });
    return async () => {};
  },
};
