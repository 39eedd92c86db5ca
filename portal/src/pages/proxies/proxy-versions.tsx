import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { ProxyVersion, Proxy as StoredProxy } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import type { VersionPart } from '../definitions/versions.js';
import { Versions } from '../definitions/versions.js';

export function ProxyVersions({ proxy }: { readonly proxy: StoredProxy }) {
  const { id: tenantId } = useTenant();
  const { id } = proxy;
  const query = useQuery({
    queryKey: ['tenant', tenantId, 'proxies', id, 'versions'],
    queryFn: async ({ signal }) => {
      const versions = await call('GET /proxies/{id}/versions', { tenantId, signal, params: { id } });
      return versions.map((version) => ({ ...version, parts: partsOf(version) }));
    },
  });
  return <Versions kind="proxies" id={id} now={partsOf(proxy)} query={query} />;
}

function partsOf(
  version: Pick<ProxyVersion, 'destination_url' | 'request_transform' | 'response_transform'>,
): readonly VersionPart[] {
  return [
    { title: 'Destination', text: version.destination_url },
    { title: 'Code for requests', text: version.request_transform?.code ?? '' },
    { title: 'Code for answers', text: version.response_transform?.code ?? '' },
  ];
}
