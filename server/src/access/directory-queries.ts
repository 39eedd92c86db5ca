import type { PeopleTx, SystemTx, TenantTx } from '../storage/scope.js';
import { distributedStatement } from '../storage/statement.js';

/**
 * The directory of credentials: whose a keyed hash is. A database on one server has none and needs none: an index on the hash
 * finds its row. On a distributed one that question would be put to every server, and one that is down would lock everybody out.
 */
const ADD = distributedStatement<never>(
  'add_to_credential_directory',
  'INSERT INTO credential_directory (tenant_id, hash) VALUES ($1, $2) ON CONFLICT DO NOTHING',
);

/** In the transaction that writes the row which has the hash. */
export async function addToDirectory(tx: TenantTx, hash: Buffer): Promise<void> {
  await tx.run(ADD, [tx.tenantId, hash]);
}

/** No entry has it. */
const TIE = distributedStatement<never>(
  'tie_to_credential_directory',
  `DELETE FROM credential_directory WHERE tenant_id = $1 AND hash = ''::bytea`,
);

/**
 * For a transaction that also writes to a table of the coordinator which Citus does not know of: the server that has the tenant
 * would commit first, alone. The directory it knows, and so both commit in two phases.
 */
export async function tieToCoordinator(tx: TenantTx): Promise<void> {
  await tx.run(TIE, [tx.tenantId]);
}

const REMOVE = distributedStatement<never>(
  'remove_from_credential_directory',
  'DELETE FROM credential_directory WHERE tenant_id = $1 AND hash = ANY ($2::bytea[])',
);

export async function removeFromDirectory(tx: TenantTx, hashes: readonly Buffer[]): Promise<void> {
  if (hashes.length === 0) return;
  await tx.run(REMOVE, [tx.tenantId, hashes.map((hash) => `\\x${hash.toString('hex')}`)]);
}

const FIND = distributedStatement<{ tenant_id: string }>(
  'find_in_credential_directory',
  'SELECT tenant_id FROM credential_directory WHERE hash = $1 LIMIT 1',
);

/** Whose it is, on a distributed database; undefined on every other. */
export async function findInDirectory(tx: SystemTx | PeopleTx, hash: Buffer): Promise<string | undefined> {
  const [found] = await tx.run(FIND, [hash]);
  if (found && tx.kind === 'system') await tx.reach?.(found.tenant_id);
  return found?.tenant_id;
}
