import type { CacheRecord } from '../storage/memories.js';
import type { Credential } from './credential.js';

/** Credentials with their rights. */
export const CREDENTIAL_CACHE: CacheRecord<Credential> = {
  name: 'credentials',
  emptiedBy: ['access'],
  tenantOf: ({ principal }) => principal.tenantId,
};
