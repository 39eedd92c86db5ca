import type { KeyObject } from 'node:crypto';
import { generateProxyKey } from '../../../access/api-key.js';
import { hashApiKey } from '../../../crypto/keyed-hash.js';
import type { DefinitionKind } from '../../definitions/kind.js';
import { PROXY_EVENTS } from '../events.js';
import { PROXY_ROWS } from '../queries.js';
import { PROXY_VERSIONS } from '../versions/queries.js';
import { proxyBodyOf, proxyVersionOf } from './body.js';
import type { ProxyKey, ProxyShape } from './content.js';
import { PROXY_SEALING } from './content.js';
import { applicationPathIn, applyProxyPatch, readProxy, readProxyPatch } from './input.js';

export const PROXY_KIND: DefinitionKind<ProxyShape> = {
  title: 'Proxy',
  path: '/proxies',
  rows: PROXY_ROWS,
  versions: PROXY_VERSIONS,
  sealing: PROXY_SEALING,
  events: PROXY_EVENTS,
  notice: 'proxy',
  keptOf: ({ key, keyHash }) => ({ key, keyHash }),
  columnsOf: ({ keyHash }) => ({ key_hash: keyHash }),
  read: readProxy,
  readPatch: readProxyPatch,
  applyPatch: applyProxyPatch,
  applicationPath: applicationPathIn,
  bodyOf: proxyBodyOf,
  newBodyOf: proxyBodyOf,
  versionBodyOf: proxyVersionOf,
};

/** A key is an address: it is kept beside its hash, to be shown to whoever may read the Proxy. */
export function newProxyKey(pepper: KeyObject): ProxyKey {
  const key = generateProxyKey().reveal();
  return { key, keyHash: hashApiKey(pepper, key) };
}
