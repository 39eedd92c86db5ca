import type { Vault } from '../../vault/index.js';
import type { DefinitionCalls } from '../definitions/calls.js';
import { createDefinitionCalls } from '../definitions/calls.js';
import type { FigureCalls } from '../definitions/figures/figure-calls.js';
import type { VersionCalls } from '../definitions/version-calls.js';
import { createVersionCalls } from '../definitions/version-calls.js';
import type { ProxyShape } from './definition/content.js';
import { createFindProxy } from './definition/current-proxy.js';
import { newProxyKey } from './definition/kind.js';
import type { ProxyStoreOptions } from './definition/store.js';
import { createProxyStore } from './definition/store.js';
import { proxyFailureOf } from './figures/failure-class.js';
import type { ProxyFigures } from './figures/service.js';
import { createProxyFigureCalls } from './figures/service.js';
import type { ProxyPreviewOptions, ProxyPreviews } from './preview/service.js';
import { createProxyPreviews } from './preview/service.js';
import type { ProxyCalls, ProxyRunOptions } from './run/service.js';
import { createProxyCalls } from './run/service.js';

export interface ProxiesOptions
  extends ProxyStoreOptions,
    Omit<ProxyRunOptions, 'findProxy' | 'onCalled' | 'vault'>,
    ProxyPreviewOptions {
  readonly vault: Pick<Vault, 'use' | 'preview'>;
  readonly proxyFigures: Pick<ProxyFigures, 'note' | 'flush'>;
}

export interface Proxies {
  readonly definitions: DefinitionCalls<ProxyShape>;
  readonly versions: VersionCalls<ProxyShape>;
  readonly figures: FigureCalls;
  /** What requests are sent through. */
  readonly calls: ProxyCalls;
  readonly previews: ProxyPreviews;
}

export function createProxies(options: ProxiesOptions): Proxies {
  const { database, systemKeys, proxyFigures } = options;
  const store = createProxyStore(options);
  return {
    definitions: createDefinitionCalls({ database, store, newKept: () => newProxyKey(systemKeys.apiKeyPepper) }),
    versions: createVersionCalls(database, store),
    figures: createProxyFigureCalls(database, proxyFigures),
    previews: createProxyPreviews(options, store),
    calls: createProxyCalls({
      ...options,
      findProxy: createFindProxy(options, store),
      onCalled: ({ tenantId, proxyId, durationMs, failure }) => {
        // Ephemeral calls are nobody's figures.
        if (proxyId === undefined) return;
        proxyFigures.note({
          tenantId,
          definitionId: proxyId,
          durationMs,
          isCold: false,
          failure: failure && proxyFailureOf(failure),
        });
      },
    }),
  };
}
