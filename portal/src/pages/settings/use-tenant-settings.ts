import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { Tenant, TenantUpdate } from '../../api/generated.js';
import { queryClient } from '../../api/query-client.js';
import { useSteppedUp } from '../../session/step-up.js';
import { reloadTenant } from '../../tenant/use-tenant.js';
import { announce } from '../../ui/notices.js';

export const tenantQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['tenant', tenantId, 'settings'],
    queryFn: ({ signal }) => call('GET /tenants/self', { tenantId, signal }),
  });

/** Changes the tenant, and has everything that shows it asked for again. */
export function useTenantUpdate({ id }: Pick<Tenant, 'id'>) {
  return useSteppedUp(
    (body: TenantUpdate) => call('PUT /tenants/self', { tenantId: id, body }),
    async () => {
      await Promise.all([reloadTenant(id, 'settings'), queryClient.invalidateQueries({ queryKey: ['me'] })]);
      announce({ id: 'saved', tone: 'ok', text: 'The change is made.' });
    },
  );
}
