import type { StreamAnswer } from '../../../http/routes/stream-route.js';
import type { RateCounter } from '../../../limits/rate-counter.js';
import type { LateSandbox } from '../../../sandbox/late-sandbox.js';
import { createRunCode } from '../../reactors/index.js';
import { createAnonymousLimit } from './anonymous-limit.js';
import type { ProxyInvokeOptions, ProxyRequest } from './invoke.js';
import { createProxyInvoke } from './invoke.js';

export interface ProxyRunOptions extends Omit<ProxyInvokeOptions, 'runCode' | 'countAnonymous'> {
  readonly sandbox: Pick<LateSandbox, 'run' | 'state'>;
  /** Undefined where limits are off. */
  readonly rateCounter: () => Pick<RateCounter, 'check'> | undefined;
  readonly proxyBodyBytesMax: number;
}

/** Calls through Proxies. */
export interface ProxyCalls {
  send(request: ProxyRequest): Promise<StreamAnswer>;
  /** Of the body of a request that goes on in pieces. */
  readonly bodyBytesMax: number;
}

export function createProxyCalls(options: ProxyRunOptions): ProxyCalls {
  const runCode = createRunCode(options.sandbox);
  const countAnonymous = createAnonymousLimit(options.rateCounter);
  return {
    send: createProxyInvoke({ ...options, runCode, countAnonymous }),
    bodyBytesMax: options.proxyBodyBytesMax,
  };
}
