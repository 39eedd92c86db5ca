import type { StreamRoute } from '../../../http/routes/stream-route.js';
import { defineStream } from '../../../http/routes/stream-route.js';
import { PROXY_EVENTS } from '../events.js';
import type { ProxyCalls } from './service.js';

/** Silence ends a call long before; this is for one that goes on and on. */
const DURATION_MS_MAX = 3_600_000;

/** Where requests are sent through: everything behind `/proxy`. */
export function proxyRoute({ send, bodyBytesMax }: ProxyCalls): StreamRoute {
  return defineStream({
    path: '/proxy/*',
    methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    permission: 'token:use',
    admits: ['application', 'session'],
    isKeyOptional: true,
    limits: [],
    bodyBytesMax,
    durationMsMax: DURATION_MS_MAX,
    problemsIn: 'proxy_error',
    audit: { entityId: '*', onDenied: PROXY_EVENTS.denied },
    handle: send,
  });
}
