import { resealIdempotencyKeys, verifyIdempotencyKeys } from '../http/idempotency/upkeep.js';
import type { Stage } from './stage.js';
import { tokenStage } from './token-stage.js';

/** Every table that holds records sealed under a tenant's encryption key. */
export const STAGES: readonly Stage[] = [
  tokenStage,
  { name: 'idempotency_keys', reseal: resealIdempotencyKeys, verify: verifyIdempotencyKeys },
];
