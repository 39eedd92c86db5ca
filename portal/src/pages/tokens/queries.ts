import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/call.js';

const SIZE = 20;

/** Each look is an entry in the log and counts as use of the token, so nothing is asked for again by itself. */
const ONCE = {
  staleTime: Number.POSITIVE_INFINITY,
  refetchOnWindowFocus: false,
  refetchOnReconnect: false,
} as const;

export const tokenSearchQuery = (tenantId: string, query: string, start: string | undefined) =>
  queryOptions({
    queryKey: ['tenant', tenantId, 'tokens', 'search', query, start],
    queryFn: ({ signal }) =>
      call('POST /portal/api/tenants/{tenant_id}/tokens/search', {
        params: { tenant_id: tenantId },
        body: { query, ...(start && { start }), size: SIZE },
        signal,
      }),
    ...ONCE,
  });

export const tokenQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: ['tenant', tenantId, 'tokens', 'one', id],
    queryFn: ({ signal }) =>
      call('GET /portal/api/tenants/{tenant_id}/tokens/{id}', { params: { tenant_id: tenantId, id }, signal }),
    ...ONCE,
  });

export const tokenHistoryQuery = (tenantId: string, id: string, start: string | undefined) =>
  queryOptions({
    queryKey: ['tenant', tenantId, 'logs', 'of-token', id, start],
    queryFn: ({ signal }) =>
      call('GET /logs', {
        tenantId,
        query: { entity_id: id, size: SIZE, include: 'details', ...(start && { start }) },
        signal,
      }),
  });
