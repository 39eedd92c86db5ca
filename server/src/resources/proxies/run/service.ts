import type { StreamRoute } from '../../../http/routes/stream-route.js';
import type { RateCounter } from '../../../limits/rate-counter.js';
import type { LateSandbox } from '../../../sandbox/late-sandbox.js';
import { createRunCode } from '../../reactors/index.js';
import { createAnonymousLimit } from './anonymous-limit.js';
import type { ProxyInvokeOptions } from './invoke.js';
import { createProxyInvoke } from './invoke.js';
import { proxyRoute } from './routes.js';

export interface ProxyRunOptions extends Omit<ProxyInvokeOptions, 'runCode' | 'countAnonymous'> {
  readonly sandbox: Pick<LateSandbox, 'run' | 'state'>;
  /** Undefined where limits are off. */
  readonly rateCounter: () => Pick<RateCounter, 'check'> | undefined;
  readonly proxyBodyBytesMax: number;
}

/** The route that requests are sent through, of the parts it takes. */
export function createProxyRoute(options: ProxyRunOptions): StreamRoute {
  const invoke = createProxyInvoke({
    ...options,
    runCode: createRunCode(options.sandbox),
    countAnonymous: createAnonymousLimit(options.rateCounter),
  });
  return proxyRoute(invoke, { bodyBytesMax: options.proxyBodyBytesMax });
}
