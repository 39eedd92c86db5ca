import { skipToken, useQuery } from '@tanstack/react-query';
import { call } from '../api/call.js';
import { pageOfEntity } from '../tenant/entity-page.js';
import { isId } from './offers.js';

/** The page of whatever has this id, below the tenant: the log says what it is. Undefined for what the log does not know. */
export function usePageOfId(tenantId: string | undefined, text: string) {
  const asked = text.trim();
  return useQuery({
    queryKey: ['tenant', tenantId, 'page-of-id', asked],
    queryFn:
      tenantId !== undefined && isId(asked)
        ? async ({ signal }) => {
            const query = { entity_id: asked, size: 1 };
            const [entry] = (await call('GET /logs', { tenantId, query, signal })).data;
            return (entry && pageOfEntity({ ...entry, operation: '' })) ?? null;
          }
        : skipToken,
  });
}
