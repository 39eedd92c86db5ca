import { Secret } from '../kernel/secret.js';
import type { SettingKind, Settings } from '../kernel/setting.js';
import { listOf, oneOf } from '../kernel/setting.js';
import { parseTrustedProxies } from './client-address.js';

/** Secret, because it usually holds a password. */
const REDIS_URL: SettingKind<Secret<string>> = {
  values: '`redis://` or `rediss://` address',
  parse(text) {
    if (!/^rediss?:\/\//.test(text) || !isReadableUrl(text) || !/^(\/\d*)?$/.test(new URL(text).pathname)) {
      throw new Error('must be an address such as redis://user:password@host:6379, or rediss:// for TLS.');
    }
    return new Secret(text);
  },
};

export const LIMITS_SETTINGS = {
  trustedProxies: {
    name: 'STRONGROOM_TRUSTED_PROXIES',
    kind: {
      values: 'addresses, networks, `loopback`, `private`, separated by commas',
      parse: (text: string) => parseTrustedProxies(listOf(text)),
    },
    default: '',
    about: 'Addresses and networks whose `X-Forwarded-For` is trusted, for example `10.0.0.0/8,loopback`',
  },
  rateLimits: {
    name: 'STRONGROOM_RATE_LIMITS',
    kind: oneOf(['on', 'off']),
    default: 'on',
    about: '`off` lifts every rate limit; only for measuring',
  },
  redisUrl: {
    name: 'STRONGROOM_REDIS_URL',
    kind: REDIS_URL,
    default: undefined,
    about: 'Redis server that shares the rate counters of several nodes; without it each node counts for itself',
    isSecret: true,
  },
  redisTls: {
    name: 'STRONGROOM_REDIS_TLS',
    kind: oneOf(['required', 'optional']),
    default: 'required',
    about: '`optional` lets production reach a Redis on another machine without TLS',
  },
} satisfies Settings;

function isReadableUrl(text: string): boolean {
  try {
    const { username, password, pathname } = new URL(text);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
