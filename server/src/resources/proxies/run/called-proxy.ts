import type { KnownPrincipals } from '../../../access/known-principals.js';
import type { Application, Session } from '../../../access/principal.js';
import { AppError } from '../../../kernel/errors.js';
import type { CurrentProxy, FindProxy } from '../definition/current-proxy.js';
import type { AskedProxy } from './asked.js';
import { readBaseUrl } from './destination.js';

export type ProxyCaller = Application | Session;

/** Which Proxy a call goes through, where that leads, and with whose rights. */
export interface CalledProxy {
  readonly tenantId: string;
  /** Undefined for an ephemeral call. */
  readonly proxy: CurrentProxy | undefined;
  readonly baseUrl: string;
  /** Undefined where a Proxy that needs no key has no Application, or that is gone. */
  readonly acting: ProxyCaller | undefined;
}

export interface CalledProxyOptions {
  readonly findProxy: FindProxy;
  readonly principals: KnownPrincipals;
  /** Counts a call without a key; throws 429 past the limit of the Proxy. */
  readonly countAnonymous: (proxy: CurrentProxy) => Promise<void>;
}

export function calledProxy(
  options: CalledProxyOptions,
  { key, url }: Pick<AskedProxy, 'key' | 'url'>,
  caller: ProxyCaller | undefined,
): CalledProxy | Promise<CalledProxy> {
  return key === undefined ? ephemeral(url, caller) : stored(options, key, caller);
}

/** Whoever sends no key learns nothing of a Proxy that wants one: neither whether it is there. */
async function stored(options: CalledProxyOptions, key: string, caller: ProxyCaller | undefined): Promise<CalledProxy> {
  const proxy = await options.findProxy(key);
  if (!caller) {
    if (!proxy || proxy.definition.requireAuth) throw noKey();
    await options.countAnonymous(proxy);
  }
  if (!proxy || (caller && caller.tenantId !== proxy.tenantId)) throw noSuchProxy();
  const { requireAuth, applicationId, destinationUrl } = proxy.definition;
  const ofProxy = async () =>
    applicationId === null ? undefined : options.principals.application(proxy.tenantId, applicationId);
  return {
    tenantId: proxy.tenantId,
    proxy,
    baseUrl: destinationUrl,
    acting: requireAuth ? caller : await ofProxy(),
  };
}

function ephemeral(url: string | undefined, caller: ProxyCaller | undefined): CalledProxy {
  if (!caller) throw noKey();
  if (url === undefined) {
    throw new AppError(
      'malformed_request',
      'Say where the request goes: the header PROXY-KEY names a Proxy, PROXY-URL an address; both with the prefix of our headers.',
    );
  }
  return { tenantId: caller.tenantId, proxy: undefined, baseUrl: readBaseUrl(url), acting: caller };
}

function noKey(): AppError {
  return new AppError('missing_api_key', 'An API key is required.');
}

function noSuchProxy(): AppError {
  return new AppError(
    'not_found',
    'There is no Proxy with this key. GET /proxies lists those there are, with their keys.',
  );
}
