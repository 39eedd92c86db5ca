import { useEffect, useState, useSyncExternalStore } from 'react';
import { call } from '../../api/call.js';
import { ApiFault } from '../../api/fault.js';
import { useTenant } from '../../tenant/use-tenant.js';
import type { LogFilter } from './log-search.js';
import type { Tail } from './tail.js';
import { createTail } from './tail.js';

/** The tail of the filter, for as long as the page shows it. Undefined until it is there. */
export function useTail(filter: LogFilter): Tail | undefined {
  const { id } = useTenant();
  const query = new URLSearchParams(filter).toString();
  const [tail, setTail] = useState<Tail>();
  useEffect(() => {
    const opened = createTail({
      urlOf: (after) =>
        `/portal/api/tenants/${encodeURIComponent(id)}/logs/tail?${new URLSearchParams([
          ...new URLSearchParams(query),
          ...(after === undefined ? [] : [['after', after]]),
        ])}`,
      refusal: () => refusalOf(id),
    });
    setTail(opened);
    return opened.close;
  }, [id, query]);
  return tail;
}

/** Asked past what the pages share: whoever is signed out keeps what arrived until then on the screen. */
async function refusalOf(tenantId: string): Promise<'signed_out' | 'no_access' | undefined> {
  try {
    const { memberships } = await call('GET /portal/api/me', {});
    return memberships.some(({ tenant_id: each }) => each === tenantId) ? undefined : 'no_access';
  } catch (error) {
    return error instanceof ApiFault && error.status === 401 ? 'signed_out' : undefined;
  }
}

export function useTailView(tail: Tail) {
  return useSyncExternalStore(tail.subscribe, tail.view);
}
