import { defineTable } from '../tables/table.js';

export const ROTATION_TABLES = [defineTable({ name: 'key_rotations', fate: 'with its tenant' })];
