import { resealIdempotencyKeys, verifyIdempotencyKeys } from '../kept-answers/upkeep.js';
import { tokenStage } from '../vault/upkeep/reseal.js';
import type { Stage } from './stage.js';

/** Every table that holds records sealed under a tenant's encryption key. */
export const STAGES: readonly Stage[] = [
  tokenStage,
  { name: 'idempotency_keys', reseal: resealIdempotencyKeys, verify: verifyIdempotencyKeys },
];
