import { defineTable } from '../tables/table.js';
import { resealIdempotencyKeys, verifyIdempotencyKeys } from './upkeep.js';

export const KEPT_ANSWER_TABLES = [
  defineTable({ name: 'kept_tokens', fate: 'with its tenant', refersTo: ['idempotency_keys'] }),
  defineTable({
    name: 'idempotency_keys',
    fate: 'with its tenant',
    sealed: { reseal: resealIdempotencyKeys, verify: verifyIdempotencyKeys },
  }),
];
