import type { TenantTx } from '../../storage/scope.js';
import { statement } from '../../storage/statement.js';

const INSERT_APPLICATION = statement<never>(
  'insert_application',
  `INSERT INTO applications (tenant_id, id, name, type, permissions, mac, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export interface ApplicationInsert {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly permissions: readonly string[];
  readonly mac: Buffer;
  readonly createdBy: string | undefined;
  readonly createdAtMs: number;
}

export async function insertApplication(tx: TenantTx, row: ApplicationInsert): Promise<void> {
  await tx.run(INSERT_APPLICATION, [
    tx.tenantId,
    row.id,
    row.name,
    row.type,
    row.permissions,
    row.mac,
    row.createdBy ?? null,
    new Date(row.createdAtMs),
  ]);
}

const INSERT_API_KEY = statement<never>(
  'insert_api_key',
  `INSERT INTO api_keys (hash, tenant_id, application_id, id, mac, created_by, created_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7)`,
);

export async function insertApiKey(
  tx: TenantTx,
  row: {
    readonly hash: Buffer;
    readonly applicationId: string;
    readonly id: string;
    readonly mac: Buffer;
    readonly createdBy: string | undefined;
    readonly createdAtMs: number;
  },
): Promise<void> {
  await tx.run(INSERT_API_KEY, [
    row.hash,
    tx.tenantId,
    row.applicationId,
    row.id,
    row.mac,
    row.createdBy ?? null,
    new Date(row.createdAtMs),
  ]);
}
