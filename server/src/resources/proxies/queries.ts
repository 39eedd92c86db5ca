import type { SystemTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';
import type { DefinitionRow } from '../definitions/queries.js';
import { createRowQueries } from '../definitions/queries.js';

export interface ProxyRow extends DefinitionRow {
  readonly key_hash: Buffer;
}

export const PROXY_ROWS = createRowQueries<ProxyRow>({
  table: 'proxies',
  one: 'proxy',
  many: 'proxies',
  further: { key_hash: (row) => row.key_hash },
});

/** A range of one hash with an order, so that only the index on hashes fits. */
const FIND_PROXY_BY_KEY = statement<Pick<ProxyRow, 'tenant_id' | 'id'>>(
  'find_proxy_by_key',
  `SELECT p.tenant_id, p.id
   FROM (SELECT tenant_id, id FROM proxies WHERE key_hash >= $1 AND key_hash <= $1 ORDER BY key_hash LIMIT 1) AS p
   JOIN tenants t ON t.id = p.tenant_id AND t.deleted_at IS NULL`,
);

/** Whose Proxy has the key with this hash. */
export async function findProxyByKey(
  tx: SystemTx,
  keyHash: Buffer,
): Promise<Pick<ProxyRow, 'tenant_id' | 'id'> | undefined> {
  return (await tx.run(FIND_PROXY_BY_KEY, [keyHash]))[0];
}
