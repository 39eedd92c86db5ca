import type { Proxy as StoredProxy } from '../../api/generated.js';

/** A call through a Proxy, as a command. */
export function proxyCall({ key, require_auth: needsKey }: Pick<StoredProxy, 'key' | 'require_auth'>): string {
  return `curl ${location.origin}/proxy/charges -H 'SVC-PROXY-KEY: ${key}' \\
  ${needsKey ? '-H "SVC-API-KEY: $KEY" ' : ''}-H 'Content-Type: application/json' \\
  -d '{"number":"{{ <token id> | json: \\"$.number\\" }}"}'`;
}
