import type { TokenUsage } from '../vault/index.js';
import { groupIdOf, tieOf } from '../vault/stored/names.js';
import type { TestDatabase } from './test-database.js';

const CONTAINERS = ['/pci/high/'];

/** A row that is a token to everything but cryptography: for tests about what stands beside the sealed record. */
export async function insertBareToken(
  db: TestDatabase,
  token: { readonly tenantId: string; readonly id: string; readonly type: string; readonly createdAt: string },
): Promise<void> {
  await db.owner.query(
    `INSERT INTO tokens (tenant_id, id, type, group_id, created_at, tie, terms, data_version, sealed)
     VALUES ($1, $2, $3, $4, $5, $6, '', 1, '\\x00')`,
    [token.tenantId, token.id, token.type, groupIdOf(token.type, CONTAINERS), token.createdAt, tieOf(token.id)],
  );
}

/** Usage of tokens made long ago. */
export function usageOf(differences: Readonly<Record<string, number>>, activeIds: readonly string[]): TokenUsage {
  return {
    differences: Object.entries(differences).map(([type, difference]) => ({
      groupId: groupIdOf(type, CONTAINERS),
      type,
      containers: CONTAINERS,
      difference,
    })),
    active: activeIds.map((id) => ({ id, createdAtMs: 0, isNew: false })),
  };
}
