import { defineTable } from './table.js';

/** The wrapped keys of a tenant. They go at once when it is deleted; what the purge finds was made meanwhile. */
export const KEY_TABLES = [defineTable({ name: 'tenant_keys', fate: 'with its tenant' })];
