import { isLoopback } from './kernel/loopback.js';
import type { Secret } from './kernel/secret.js';
import { parseAddress } from './storage/address.js';

/** What the settings say about ways in and out, by the names of the settings. */
export interface Ways {
  readonly host: string;
  readonly tlsInFront: 'yes' | 'no' | undefined;
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  readonly metricsTls: 'required' | 'optional';
  /** Addresses by the name of their setting, where one is given. */
  readonly databases: Readonly<Record<string, Secret<string> | undefined>>;
  readonly databaseTls: 'required' | 'optional';
  readonly redisUrl: Secret<string> | undefined;
  readonly redisTls: 'required' | 'optional';
}

/**
 * Every way on which keys, card numbers or passwords would cross a network in the clear without anybody having said that this
 * is meant. For production: one sentence each, with what to set.
 */
export function waysInTheClear(ways: Ways): string[] {
  const faults: string[] = [];
  if (ways.tlsInFront === undefined && !isLoopback(ways.host)) {
    faults.push(
      'STRONGROOM_HOST listens beyond this machine, in plain HTTP. Set STRONGROOM_TLS_IN_FRONT=yes where whoever connects ' +
        'comes through a proxy that ends TLS, or to no where plain HTTP is meant.',
    );
  }
  if (ways.metricsPort !== undefined && ways.metricsTls !== 'optional' && !isLoopback(ways.metricsHost)) {
    faults.push(
      'STRONGROOM_METRICS_HOST listens beyond this machine, in plain HTTP. Set STRONGROOM_METRICS_TLS=optional where only ' +
        'your own scrapers reach it.',
    );
  }
  for (const [name, url] of Object.entries(ways.databases)) {
    if (url === undefined || ways.databaseTls === 'optional' || !isRemoteUnproven(url.reveal())) continue;
    faults.push(
      `${name} reaches a database on another machine without TLS, or one that need not prove who it is (sslmode=require ` +
        'alone). Use sslmode=verify-full, or set STRONGROOM_DATABASE_TLS=optional where the network between is yours alone.',
    );
  }
  if (ways.redisUrl !== undefined && ways.redisTls !== 'optional' && isRemoteRedis(ways.redisUrl.reveal())) {
    faults.push(
      'STRONGROOM_REDIS_URL reaches a Redis on another machine without TLS. Use rediss://, or set ' +
        'STRONGROOM_REDIS_TLS=optional where the network between is yours alone.',
    );
  }
  return faults;
}

/** Whoever is in between can read what is in the clear, and what is sealed for anybody who says that they are the server. */
function isRemoteUnproven(url: string): boolean {
  const { hosts, tls } = parseAddress(url);
  const isUnproven = tls.mode === 'disable' || (tls.mode === 'require' && tls.rootCertFile === undefined);
  return isUnproven && hosts.some(({ host }) => !host.startsWith('/') && !isLoopback(host));
}

function isRemoteRedis(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'redis:' && !isLoopback(hostname);
}
