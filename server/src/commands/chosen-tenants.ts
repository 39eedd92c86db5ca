import type { Core } from '../core.js';
import { validationFailed } from '../kernel/errors.js';
import { isUuid } from '../kernel/ids.js';
import { findTenantById } from '../resources/tenants/index.js';
import type { Wait } from '../rotation/retry.js';
import { everyTenantId } from '../rotation/tenants.js';

/** The tenant that was named, if there is one of that id; every tenant without a name. */
export async function chosenTenants(
  { database }: Pick<Core, 'database'>,
  named: string | undefined,
  wait: Wait,
): Promise<AsyncIterable<string>> {
  if (named === undefined) return everyTenantId(database, wait);
  const tenantId = named.toLowerCase();
  if (!isUuid(tenantId) || !(await database.read(tenantId, findTenantById))) {
    throw validationFailed({ tenant: ['is not the id of a Tenant'] });
  }
  return only(tenantId);
}

async function* only(tenantId: string): AsyncGenerator<string> {
  yield tenantId;
}
