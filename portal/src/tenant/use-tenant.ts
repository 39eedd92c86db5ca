import { useParams } from '@tanstack/react-router';
import type { PortalMembership } from '../api/generated.js';
import { queryClient } from '../api/query-client.js';
import { useMe } from '../session/use-me.js';

export interface OpenTenant {
  readonly id: string;
  readonly membership: PortalMembership | undefined;
  /** Whether who is signed in may change things here. The server decides; this hides what it would refuse. */
  readonly mayChange: boolean;
}

/** The tenant whose pages are open. */
export function useTenant(): OpenTenant {
  const { tenantId } = useParams({ strict: false });
  const { data: me } = useMe();
  const id = tenantId ?? '';
  const membership = me?.memberships.find(({ tenant_id: each }) => each === id);
  return { id, membership, mayChange: membership !== undefined && membership.role !== 'READ_ONLY' };
}

/** Has what is remembered of a part of the tenant asked for again. */
export function reloadTenant(tenantId: string, part: string): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: ['tenant', tenantId, part] });
}
