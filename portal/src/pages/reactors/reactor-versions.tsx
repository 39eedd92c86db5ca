import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { Reactor } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Versions } from '../definitions/versions.js';

export function ReactorVersions({ reactor: { id, code } }: { readonly reactor: Reactor }) {
  const { id: tenantId } = useTenant();
  const query = useQuery({
    queryKey: ['tenant', tenantId, 'reactors', id, 'versions'],
    queryFn: async ({ signal }) => {
      const versions = await call('GET /reactors/{id}/versions', { tenantId, signal, params: { id } });
      return versions.map(({ code: text, ...version }) => ({ ...version, parts: [{ title: 'Code', text }] }));
    },
  });
  return <Versions kind="reactors" id={id} now={[{ title: 'Code', text: code }]} query={query} />;
}
