import { defineTable } from './table.js';

/**
 * The wrapped keys of a tenant. The deletion removes them at once; the purge only finds keys that were made at the same
 * moment.
 */
export const KEY_TABLES = [defineTable({ name: 'tenant_keys', fate: 'with its tenant' })];
