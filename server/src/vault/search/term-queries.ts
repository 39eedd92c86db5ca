import { READ_IN_ORDER } from '../../storage/in-order.js';
import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import { bytesList } from './condition-queries.js';

/** From here on a term is common, and how common is not worth counting. */
export const COMMON_TERM_ROWS = 2_000;

/** How many tokens have a term, by its bytes in hexadecimal; what reaches the bound above may be any number from there. */
export type TermRows = ReadonlyMap<string, number>;

const COUNT_TERMS = statement<{ readonly key: Buffer; readonly found: string }>(
  'count_token_terms',
  `SELECT wanted.key, (SELECT count(*) FROM (
     SELECT m.tie FROM token_terms m WHERE m.tenant_id = $1 AND m.term = wanted.key
     ORDER BY m.created_at DESC, m.tie DESC LIMIT ${COMMON_TERM_ROWS}) AS counted) AS found
   FROM unnest($2::bytea[]) AS wanted (key)`,
);

export async function readTermRows(tx: TenantTx, terms: readonly Buffer[]): Promise<TermRows> {
  const [, rows] = await Promise.all([
    tx.run(READ_IN_ORDER, []),
    tx.run(COUNT_TERMS, [tx.tenantId, [...new Set(bytesList(terms))]]),
  ]);
  return new Map(rows.map(({ key, found }) => [key.toString('hex'), Number(found)]));
}
