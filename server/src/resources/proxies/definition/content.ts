import { macEquals } from '../../../crypto/keyed-hash.js';
import type { Opened, SharedDefinition } from '../../definitions/kind.js';
import { createSealing } from '../../definitions/sealing.js';
import type { ProxyRow } from '../queries.js';
import type { ProxyBody, ProxyVersionBody } from '../schema.js';
import type { ProxyPatch } from './input.js';

/** What a version of a Proxy says. */
export interface ProxyDefinition extends SharedDefinition {
  readonly destinationUrl: string;
  /** Code, or null where requests pass as they are. */
  readonly requestTransform: string | null;
  readonly responseTransform: string | null;
  readonly requireAuth: boolean;
  /** Clients of other products name Reactors. They are shown again, and nothing else. */
  readonly requestReactorId: string | null;
  readonly responseReactorId: string | null;
}

/** What stays with a Proxy whatever it says: its key, and the keyed hash that it is found by. */
export interface ProxyKey {
  readonly key: string;
  readonly keyHash: Buffer;
}

export interface ProxyShape {
  readonly row: ProxyRow;
  readonly definition: ProxyDefinition;
  readonly kept: ProxyKey;
  readonly patch: ProxyPatch;
  readonly body: ProxyBody;
  readonly newBody: ProxyBody;
  readonly versionBody: ProxyVersionBody;
}

/** A Proxy with what it says. */
export type OpenedProxy = Opened<ProxyShape>;

/** How a definition is written into a record. It lasts for ever: another form is another number. */
interface StoredProxy {
  readonly format: 1;
  readonly name: string;
  readonly destination_url: string;
  readonly request_transform: string | null;
  readonly response_transform: string | null;
  readonly configuration: ProxyDefinition['configuration'];
  readonly application_id: string | null;
  readonly require_auth: boolean;
  readonly request_reactor_id: string | null;
  readonly response_reactor_id: string | null;
  readonly key?: string;
  /** In base64. Sealed with the key it is made of, it tells an altered column without the key of the hash. */
  readonly key_hash?: string;
}

export const PROXY_SEALING = createSealing<ProxyShape>({
  title: 'Proxy',
  context: 'proxy',
  write: (definition, kept): StoredProxy => ({
    format: 1,
    name: definition.name,
    destination_url: definition.destinationUrl,
    request_transform: definition.requestTransform,
    response_transform: definition.responseTransform,
    configuration: definition.configuration,
    application_id: definition.applicationId,
    require_auth: definition.requireAuth,
    request_reactor_id: definition.requestReactorId,
    response_reactor_id: definition.responseReactorId,
    ...(kept && { key: kept.key, key_hash: kept.keyHash.toString('base64') }),
  }),
  read(given) {
    const stored = given as StoredProxy; // It was sealed here, so it has one of the forms there are.
    if (stored.format !== 1) throw new Error('a Proxy was written by a newer release');
    const { key, key_hash: keyHash } = stored;
    return {
      definition: {
        name: stored.name,
        destinationUrl: stored.destination_url,
        requestTransform: stored.request_transform,
        responseTransform: stored.response_transform,
        configuration: stored.configuration,
        applicationId: stored.application_id,
        requireAuth: stored.require_auth,
        requestReactorId: stored.request_reactor_id,
        responseReactorId: stored.response_reactor_id,
      },
      kept: key === undefined || keyHash === undefined ? undefined : { key, keyHash: Buffer.from(keyHash, 'base64') },
    };
  },
  isFitting: (row, { keyHash }) => macEquals(row.key_hash, keyHash),
});
