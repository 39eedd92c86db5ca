import type { CacheRecord } from '../../storage/memories.js';
import type { TenantBody } from './schema.js';

/** Rows of tenants. Whatever changes about one empties what is remembered of it. */
export const TENANT_CACHE: CacheRecord<TenantBody> = {
  name: 'tenants',
  emptiedBy: ['tenant', 'access'],
  tenantOf: ({ id }) => id,
};
