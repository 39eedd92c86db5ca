import { defineTable } from '../tables/table.js';

/** The log outlives its tenant: it is what tells who did what to it. */
export const LOG_TABLE = defineTable({ name: 'logs', fate: 'after its log' });

/** What is counted of it is for people who look at the tenant, and goes with it. */
export const LOG_COUNT_TABLE = defineTable({ name: 'log_counts', fate: 'with its tenant' });
