import type { Answer } from './http-client.js';
import type { TestApp, TestTenant } from './test-app.js';

/** The header under its first prefix. */
export function underKey(idempotencyKey: string): Readonly<Record<string, string>> {
  return { 'SVC-IDEMPOTENCY-KEY': idempotencyKey };
}

/** Renames the tenant under an idempotency key. */
export function putName(
  app: TestApp,
  key: string,
  name: string,
  idempotencyKey: string,
  path = '/tenants/self',
): Promise<Answer> {
  return app.call('PUT', path, { key, body: { name }, headers: underKey(idempotencyKey) });
}

/** How often the tenant was really changed, by what the log says of it. */
export async function updatesOf(app: TestApp, { id }: Pick<TestTenant, 'id'>): Promise<number> {
  const found = await app.db.owner.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM logs WHERE tenant_id = $1 AND operation = 'update'`,
    [id],
  );
  return found.rows[0]?.count ?? 0;
}

export async function keptRows(app: TestApp, tenantId: string): Promise<{ id: Buffer; sealed: Buffer }[]> {
  const found = await app.db.owner.query<{ id: Buffer; sealed: Buffer }>(
    'SELECT id, sealed FROM idempotency_keys WHERE tenant_id = $1 ORDER BY id',
    [tenantId],
  );
  return found.rows;
}
