import type { Slice } from '../slice.js';
import { PROXY_EVENTS } from './events.js';
import type { ProxyRunOptions } from './run/service.js';
import { createProxyRoute } from './run/service.js';

export const proxies: Slice<ProxyRunOptions> = {
  name: 'proxies',
  routes: (parts) => [createProxyRoute(parts)],
  events: Object.values(PROXY_EVENTS),
  tables: [],
};
