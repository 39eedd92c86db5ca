import { defineTable } from '../tables/table.js';

/** The log outlives its tenant: it is what tells who did what to it. */
export const LOG_TABLE = defineTable({ name: 'logs', fate: 'after its log' });
