export { purgeOneBatch } from './purge.js';
export type { TenantRow } from './queries.js';
export { findTenantById, hasAnyUser, isUser, listTenants } from './queries.js';
export { tenantRoutes } from './routes.js';
export { TenantBody } from './schema.js';
export type { NewTenant, Tenants } from './service.js';
export { createTenant, createTenants } from './service.js';
