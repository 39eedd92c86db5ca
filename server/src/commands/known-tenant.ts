import { validationFailed } from '../kernel/errors.js';
import { isUuid } from '../kernel/ids.js';
import type { TenantRow } from '../resources/tenants/index.js';
import { findTenantById } from '../resources/tenants/index.js';
import type { Database } from '../storage/database.js';

/** The Tenant a flag names; refuses any other text. */
export async function knownTenant(database: Database, text: string | undefined): Promise<TenantRow> {
  const tenantId = text?.toLowerCase() ?? '';
  const tenant = isUuid(tenantId) ? await database.read(tenantId, findTenantById) : undefined;
  if (tenant) return tenant;
  throw validationFailed({ tenant: ['is not the id of a Tenant; strongroom tenant list shows them'] });
}
