import type { Memory } from '../../../storage/memory.js';
import type { DefinitionStore, DefinitionsOptions } from '../../definitions/store.js';
import { createDefinitionStore } from '../../definitions/store.js';
import type { ProxyShape } from './content.js';
import type { CurrentProxy } from './current-proxy.js';
import { PROXY_KIND } from './kind.js';

/** Which stored Proxy, or version of one, was changed outside the product. */
export interface ProxyStory {
  readonly tenantId: string;
  readonly proxyId: string;
  readonly version?: number;
}

export interface ProxyStoreOptions extends DefinitionsOptions {
  readonly onProxyAltered: (story: ProxyStory) => void;
  readonly proxyMemory: Pick<Memory<CurrentProxy>, 'find' | 'forgetTenant'>;
}

/** What the calls on Proxies have in common. */
export type ProxyStore = DefinitionStore<ProxyShape>;

export function createProxyStore(options: ProxyStoreOptions): ProxyStore {
  const { onProxyAltered, proxyMemory } = options;
  return createDefinitionStore(PROXY_KIND, options, {
    onAltered: ({ id, ...story }) => onProxyAltered({ ...story, proxyId: id }),
    onChanged: (tenantId) => proxyMemory.forgetTenant(tenantId),
  });
}
