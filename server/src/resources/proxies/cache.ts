import type { CacheRecord } from '../../storage/memories.js';
import type { CurrentProxy } from './definition/current-proxy.js';
import { bytesOfProxy } from './definition/current-proxy.js';

/** Proxies by their keys. With the rights of its Applications a tenant loses all of them when it is deleted. */
export const PROXY_CACHE: CacheRecord<CurrentProxy> = {
  name: 'proxies',
  emptiedBy: ['proxy', 'access'],
  tenantOf: ({ tenantId }) => tenantId,
  bytesOf: bytesOfProxy,
};
