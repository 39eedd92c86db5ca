import type { TenantTx } from '../storage/scope.js';
import { IntegrityError } from './integrity-error.js';
import { findTenantKeysForUpdate, updateTenantKey } from './key-queries.js';
import type { RootKey } from './root-key.js';
import { type RootKeyRing, unwrapByRing } from './root-key-ring.js';
import { type SystemKeyRow, systemKeyContext } from './system-keys.js';
import type { TenantKeyRow } from './tenant-keys.js';
import { withWiped } from './wiped.js';
import { unwrapKey, type WrapContext, wrapKey } from './wrap.js';

/** Wraps by the first key of the ring whatever another of its keys wrapped; gives how many rows that were. */
export async function rewrapTenantKeys(tx: TenantTx, ring: RootKeyRing): Promise<number> {
  let count = 0;
  // Locked, because a deletion of the tenant or another rotation must come before or after, not in between.
  for (const row of await findTenantKeysForUpdate(tx)) {
    const wrapped = rewrap(ring, tenantKeyContext(tx.tenantId, row), row.wrapped);
    if (wrapped === undefined) continue;
    await updateTenantKey(tx, { ...row, wrapped });
    count += 1;
  }
  return count;
}

export function areAllWrappedBy(rootKey: RootKey, tenantId: string, rows: readonly TenantKeyRow[]): boolean {
  return rows.every((row) => opens(rootKey, tenantKeyContext(tenantId, row), row.wrapped));
}

export function rewrapSystemKeys(ring: RootKeyRing, rows: readonly SystemKeyRow[]): SystemKeyRow[] {
  return rows.flatMap(({ name, wrapped: before }) => {
    const wrapped = rewrap(ring, systemKeyContext(name), before);
    return wrapped === undefined ? [] : [{ name, wrapped }];
  });
}

/** Undefined when the first key opens it already. */
function rewrap(ring: RootKeyRing, context: WrapContext, wrapped: Buffer): Buffer | undefined {
  const [first, ...others] = ring;
  if (opens(first, context, wrapped)) return undefined;
  return withWiped(unwrapByRing(others, context, wrapped).export(), (bytes) => wrapKey(first, context, bytes));
}

function opens(rootKey: RootKey, context: WrapContext, wrapped: Buffer): boolean {
  try {
    unwrapKey(rootKey, context, wrapped);
    return true;
  } catch (error) {
    if (error instanceof IntegrityError) return false;
    throw error;
  }
}

function tenantKeyContext(tenantId: string, { kind, version }: TenantKeyRow): WrapContext {
  return { scope: 'tenant', tenantId, name: kind, version };
}
