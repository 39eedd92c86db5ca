export { eraseLogsEarly, LOGS_KEPT_MONTHS, purgeOneBatch } from './purge.js';
export type { DeletedTenant, TenantFate, TenantRow } from './queries.js';
export { findTenantById, findTenantFate, listDeletedTenants, listTenants } from './queries.js';
export { tenantRoutes } from './routes.js';
export { TenantBody } from './schema.js';
export type { NewTenant, Tenants } from './service.js';
export { createTenant, createTenants } from './service.js';
