import { HOUR_MS } from '../../jobs/job-record.js';
import type { Slice } from '../slice.js';
import { PROXY_CACHE } from './cache.js';
import { PROXY_EVENTS } from './events.js';
import { sweepProxyFigures } from './figures/service.js';
import { proxyRoutes } from './routes.js';
import type { ProxiesOptions } from './service.js';
import { createProxies } from './service.js';
import { PROXY_TABLES } from './tables.js';

export { PROXY_CACHE } from './cache.js';
export type { CurrentProxy } from './definition/current-proxy.js';
export type { ProxyStoreOptions } from './definition/store.js';
export type { ProxyFigures } from './figures/service.js';
export { createProxyFigures, writeProxyFigures } from './figures/service.js';

export const proxies: Slice<ProxiesOptions> = {
  name: 'proxies',
  routes: (parts) => proxyRoutes(createProxies(parts)),
  events: Object.values(PROXY_EVENTS),
  tables: PROXY_TABLES,
  jobs: ({ database }) => [
    { name: 'proxy-figures', restMs: HOUR_MS, step: (nowMs) => sweepProxyFigures(database, nowMs) },
  ],
  caches: [PROXY_CACHE],
};
