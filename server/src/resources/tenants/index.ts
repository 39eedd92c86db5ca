import { SECOND_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { TENANT_CACHE } from './cache.js';
import { TENANT_EVENTS } from './events.js';
import { purgeOneBatch } from './purge.js';
import { tenantRoutes } from './routes.js';
import type { Tenants } from './service.js';

export { TENANT_CACHE } from './cache.js';
export { TENANT_EVENTS } from './events.js';
export type { TransferOwnership } from './ownership/transfer.js';
export { createOwnershipTransfer } from './ownership/transfer.js';
export { eraseLogsEarly, LOGS_KEPT_MONTHS, purgeOneBatch } from './purge.js';
export type { DeletedTenant, TenantFate, TenantRow } from './queries.js';
export { findTenantById, findTenantFate, listDeletedTenants, listTenants } from './queries.js';
export { TenantBody } from './schema.js';
export type { NewTenant, TenantMaker, Tenants } from './service.js';
export { createTenant, createTenants, tenantMaker, tokenSettings } from './service.js';

export { changeSignInRules } from './sign-in-rules/rules.js';

/** Its own table is the last to be purged of a tenant, by its own rules, and so is none of `tables`. */
export const tenants: Slice<{ readonly tenants: Tenants }> = {
  name: 'tenants',
  routes: (parts) => tenantRoutes(parts.tenants),
  events: Object.values(TENANT_EVENTS),
  tables: [],
  jobs: ({ database, tables }) => [
    { name: 'purge', restMs: 5 * SECOND_MS, step: (nowMs) => purgeOneBatch(database, tables, nowMs) },
  ],
  caches: [TENANT_CACHE],
};
