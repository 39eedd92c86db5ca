import { validationFailed } from '../kernel/errors.js';
import { isUuid } from '../kernel/ids.js';
import type { TenantFate } from '../resources/tenants/index.js';
import { findTenantFate } from '../resources/tenants/index.js';
import type { Database } from '../storage/database.js';

/** The Tenant a flag names, one that was deleted and has a log left too; refuses any other text. */
export async function knownFate(
  database: Database,
  text: string | undefined,
): Promise<TenantFate & { readonly tenantId: string }> {
  const tenantId = text?.toLowerCase() ?? '';
  const fate = isUuid(tenantId) ? await database.lookUp((tx) => findTenantFate(tx, tenantId)) : undefined;
  if (fate) return { ...fate, tenantId };
  throw validationFailed({
    tenant: ['is not the id of a Tenant, nor of a deleted one whose log is kept; see strongroom tenant list --deleted'],
  });
}
