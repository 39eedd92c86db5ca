import { addToDirectory, findInDirectory } from '../../access/directory-queries.js';
import type { SystemTx } from '../../storage/scope.js';
import { distributedStatement, plainStatement } from '../../storage/statement.js';
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
  beside: (tx, row) => addToDirectory(tx, row.key_hash),
});

/** A range of one hash with an order, so that only the index on hashes fits. */
const FIND_PROXY_BY_KEY = plainStatement<Pick<ProxyRow, 'tenant_id' | 'id'>>(
  'find_proxy_by_key',
  proxySql('key_hash >= $1 AND key_hash <= $1', 'p.tenant_id'),
);

/** The same where the directory has told whose it is. */
const FIND_PROXY_OF_TENANT = distributedStatement<Pick<ProxyRow, 'tenant_id' | 'id'>>(
  'find_proxy_of_tenant',
  proxySql('tenant_id = $2 AND key_hash >= $1 AND key_hash <= $1', '$2'),
);

function proxySql(isIt: string, tenant: string): string {
  return `SELECT p.tenant_id, p.id
   FROM (SELECT tenant_id, id FROM proxies WHERE ${isIt} ORDER BY key_hash LIMIT 1) AS p
   JOIN tenants t ON t.id = ${tenant} AND t.deleted_at IS NULL`;
}

/** Whose Proxy has the key with this hash. */
export async function findProxyByKey(
  tx: SystemTx,
  keyHash: Buffer,
): Promise<Pick<ProxyRow, 'tenant_id' | 'id'> | undefined> {
  const tenantId = await findInDirectory(tx, keyHash);
  const [found] = await (tenantId === undefined
    ? tx.run(FIND_PROXY_BY_KEY, [keyHash])
    : tx.run(FIND_PROXY_OF_TENANT, [keyHash, tenantId]));
  return found;
}
