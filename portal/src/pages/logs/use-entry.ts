import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { Log } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';

/** UUID version 7: it begins with its millisecond, and that is when the entry was made. */
const ENTRY_ID = /^([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const PAGE_ROWS = 1_000;
/** Of one millisecond. */
const PAGES_MAX = 10;

/** One entry, from what the page shows or by its id. Null: there is none. */
export function useEntry(id: string | undefined, shown: readonly Log[]) {
  const { id: tenantId } = useTenant();
  const known = shown.find((entry) => entry.id === id);
  return useQuery({
    queryKey: ['tenant', tenantId, 'logs', 'entry', id],
    queryFn: ({ signal }) => findEntry(tenantId, id ?? '', signal),
    enabled: id !== undefined,
    // Entries never change.
    staleTime: Number.POSITIVE_INFINITY,
    ...(known && { initialData: known }),
  });
}

async function findEntry(tenantId: string, id: string, signal: AbortSignal): Promise<Log | null> {
  const [, high, low] = ENTRY_ID.exec(id) ?? [];
  if (high === undefined || low === undefined) return null;
  const ms = Number.parseInt(high + low, 16);
  const [from, to] = [new Date(ms).toISOString(), new Date(ms + 1).toISOString()];
  let start: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = { start_date: from, end_date: to, size: PAGE_ROWS, include: 'details', start } as const;
    const { data, pagination } = await call('GET /logs', { tenantId, query, signal });
    const found = data.find((entry) => entry.id === id);
    if (found) return found;
    if (pagination.next === undefined) return null;
    start = pagination.next;
  }
  return null;
}
