import type { DefinitionCalls } from '../definitions/calls.js';
import { createDefinitionCalls } from '../definitions/calls.js';
import type { FigureCalls } from '../definitions/figures/figure-calls.js';
import type { VersionCalls } from '../definitions/version-calls.js';
import { createVersionCalls } from '../definitions/version-calls.js';
import type { ProxyShape } from './definition/content.js';
import type { FindProxy } from './definition/current-proxy.js';
import { createFindProxy } from './definition/current-proxy.js';
import { newProxyKey } from './definition/kind.js';
import type { ProxyStoreOptions } from './definition/store.js';
import { createProxyStore } from './definition/store.js';
import type { ProxyFigures } from './figures/service.js';
import { createProxyFigureCalls } from './figures/service.js';

export interface ProxiesOptions extends ProxyStoreOptions {
  readonly proxyFigures: Pick<ProxyFigures, 'note' | 'flush'>;
}

export interface Proxies {
  readonly definitions: DefinitionCalls<ProxyShape>;
  readonly versions: VersionCalls<ProxyShape>;
  readonly figures: FigureCalls;
  /** For calls, which name a Proxy by its key. */
  readonly find: FindProxy;
}

export function createProxies(options: ProxiesOptions): Proxies {
  const { database, systemKeys, proxyFigures } = options;
  const store = createProxyStore(options);
  return {
    definitions: createDefinitionCalls({ database, store, newKept: () => newProxyKey(systemKeys.apiKeyPepper) }),
    versions: createVersionCalls(database, store),
    figures: createProxyFigureCalls(database, proxyFigures),
    find: createFindProxy(options, store),
  };
}
