import type { CacheRecord } from '../../storage/memories.js';
import type { CurrentReactor } from './definition/current-reactor.js';
import { bytesOfReactor } from './definition/current-reactor.js';

/** Reactors by tenant and id. With the rights of its Applications a tenant loses all of them when it is deleted. */
export const REACTOR_CACHE: CacheRecord<CurrentReactor> = {
  name: 'reactors',
  emptiedBy: ['reactor', 'access'],
  tenantOf: ({ tenantId }) => tenantId,
  bytesOf: bytesOfReactor,
};
