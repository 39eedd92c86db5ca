import { defineTable } from '../tables/table.js';

/** Whose a secret is. Its entries carry no MAC: what they lead to does. */
export const DIRECTORY_TABLE = defineTable({ name: 'credential_directory', fate: 'with its tenant', key: 'hash' });
