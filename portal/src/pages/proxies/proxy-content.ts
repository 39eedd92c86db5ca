import type { ProxyInput, ProxyPatch, Proxy as StoredProxy } from '../../api/generated.js';
import type { ConfigurationEntry } from '../definitions/configuration-entries.js';
import { configurationOf, configurationPatch, entriesOf } from '../definitions/configuration-entries.js';

/** What can be edited of a Proxy. */
export interface ProxyContent {
  readonly name: string;
  readonly destinationUrl: string;
  /** Undefined for none. */
  readonly requestCode: string | undefined;
  readonly responseCode: string | undefined;
  /** Empty for none. */
  readonly applicationId: string;
  readonly requireAuth: boolean;
  readonly entries: readonly ConfigurationEntry[];
}

export const NEW_PROXY: ProxyContent = {
  name: '',
  destinationUrl: 'https://',
  requestCode: undefined,
  responseCode: undefined,
  applicationId: '',
  requireAuth: true,
  entries: [],
};

export function proxyContent(proxy: StoredProxy): ProxyContent {
  return {
    name: proxy.name,
    destinationUrl: proxy.destination_url,
    requestCode: proxy.request_transform?.code,
    responseCode: proxy.response_transform?.code,
    applicationId: proxy.application_id ?? '',
    requireAuth: proxy.require_auth,
    entries: entriesOf(proxy.configuration),
  };
}

export function proxyInput(content: ProxyContent): ProxyInput {
  const { requestCode, responseCode, applicationId } = content;
  return {
    name: content.name,
    destination_url: content.destinationUrl,
    require_auth: content.requireAuth,
    configuration: configurationOf(content.entries),
    ...(requestCode !== undefined && { request_transform: { code: requestCode } }),
    ...(responseCode !== undefined && { response_transform: { code: responseCode } }),
    ...(applicationId !== '' && { application_id: applicationId }),
  };
}

/** Only what was changed, so that what somebody else changed meanwhile stays. */
export function proxyPatch(proxy: StoredProxy, content: ProxyContent): ProxyPatch {
  const stored = proxyContent(proxy);
  const configuration = configurationPatch(proxy.configuration, content.entries);
  const transform = (code: string | undefined) => (code === undefined ? null : { code });
  return {
    ...(content.name !== stored.name && { name: content.name }),
    ...(content.destinationUrl !== stored.destinationUrl && { destination_url: content.destinationUrl }),
    ...(content.requireAuth !== stored.requireAuth && { require_auth: content.requireAuth }),
    ...(content.requestCode !== stored.requestCode && { request_transform: transform(content.requestCode) }),
    ...(content.responseCode !== stored.responseCode && { response_transform: transform(content.responseCode) }),
    ...(content.applicationId !== stored.applicationId && { application_id: content.applicationId || null }),
    ...(configuration && { configuration }),
  };
}

/** The fields whose faults are shown beside them. */
export function proxyFields({ entries }: ProxyContent): readonly string[] {
  return [
    ...['name', 'destination_url', 'application_id', 'application.id', 'require_auth', 'configuration'],
    ...['request_transform.code', 'response_transform.code'],
    ...entries.map(({ name }) => `configuration.${name}`),
  ];
}
