import { queryOptions } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { ApplicationType } from './application-types.js';

/** What is remembered of Applications, and forgotten with `reloadTenant`. */
export const APPLICATIONS_PART = 'applications';
const KEPT_MS = 3_600_000;
const SIZE = 20;

export const applicationsQuery = (tenantId: string, type: ApplicationType | undefined, page: number) =>
  queryOptions({
    queryKey: ['tenant', tenantId, APPLICATIONS_PART, 'list', type, page],
    queryFn: ({ signal }) =>
      call('GET /portal/api/tenants/{tenant_id}/applications', {
        params: { tenant_id: tenantId },
        query: { ...(type && { type: [type] }), page, size: SIZE },
        signal,
      }),
  });

export const applicationQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: ['tenant', tenantId, APPLICATIONS_PART, 'one', id],
    queryFn: ({ signal }) => call('GET /applications/{id}', { tenantId, params: { id }, signal }),
  });

export const applicationKeysQuery = (tenantId: string, id: string) =>
  queryOptions({
    queryKey: ['tenant', tenantId, APPLICATIONS_PART, 'keys', id],
    queryFn: ({ signal }) => call('GET /applications/{id}/keys', { tenantId, params: { id }, signal }),
  });

/** What the product can do changes with the product alone. */
export const permissionsQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['tenant', tenantId, 'permissions'],
    queryFn: ({ signal }) => call('GET /permissions', { tenantId, signal }),
    staleTime: KEPT_MS,
  });

export const templatesQuery = (tenantId: string) =>
  queryOptions({
    queryKey: ['tenant', tenantId, 'application-templates'],
    queryFn: ({ signal }) => call('GET /application-templates', { tenantId, signal }),
    staleTime: KEPT_MS,
  });
