import { isWellFormedProxyKey } from '../../../access/api-key.js';
import { hashApiKey, macEquals } from '../../../crypto/keyed-hash.js';
import { AppError } from '../../../kernel/errors.js';
import { bytesOfTexts } from '../../definitions/remembered.js';
import { findProxyByKey } from '../queries.js';
import type { ProxyDefinition } from './content.js';
import type { ProxyStore, ProxyStoreOptions } from './store.js';

/** A Proxy as a request finds it. */
export interface CurrentProxy {
  readonly tenantId: string;
  readonly proxyId: string;
  readonly version: number;
  readonly definition: Omit<ProxyDefinition, 'requestReactorId' | 'responseReactorId'>;
}

/** The Proxy that has this key; undefined where none has. From memory it takes no statement. */
export type FindProxy = (keyText: string) => Promise<CurrentProxy | undefined>;

export function createFindProxy(
  { database, systemKeys, proxyMemory }: Pick<ProxyStoreOptions, 'database' | 'systemKeys' | 'proxyMemory'>,
  store: ProxyStore,
): FindProxy {
  async function load(keyHash: Buffer): Promise<CurrentProxy | undefined> {
    const found = await database.readCredential((tx) => findProxyByKey(tx, keyHash));
    if (!found) return undefined;
    const { tenant_id: tenantId, id: proxyId } = found;
    const row = await database.read(tenantId, (tx) => store.kind.rows.find(tx, proxyId));
    // It may have got another key in between.
    if (!row || !macEquals(row.key_hash, keyHash)) return undefined;
    const { content } = store.open(await store.keysFor(tenantId, [row]), row);
    return { tenantId, proxyId, version: row.version, definition: definitionOf(content) };
  }

  return async (keyText) => {
    if (!isWellFormedProxyKey(keyText)) return undefined;
    const keyHash = hashApiKey(systemKeys.apiKeyPepper, keyText);
    try {
      return await proxyMemory.find(keyHash.toString('base64'), () => load(keyHash));
    } catch (error) {
      // The tenant was deleted in between, and its keys are gone.
      if (error instanceof AppError && error.code === 'invalid_api_key') return undefined;
      throw error;
    }
  };
}

/** What a call needs: not the key, which nobody has to remember. */
function definitionOf(content: ProxyDefinition): CurrentProxy['definition'] {
  const { name, destinationUrl, requestTransform, responseTransform } = content;
  const { applicationId, configuration, requireAuth } = content;
  return { name, destinationUrl, requestTransform, responseTransform, applicationId, configuration, requireAuth };
}

export function bytesOfProxy({ definition }: CurrentProxy): number {
  const { name, destinationUrl, requestTransform, responseTransform, configuration } = definition;
  return bytesOfTexts([name, destinationUrl, requestTransform ?? '', responseTransform ?? ''], configuration);
}
