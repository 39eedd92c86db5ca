import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { Log, LogPagination } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import type { LogFilter, LogTexts } from './log-search.js';
import { boundsOf } from './log-search.js';
import type { TailView } from './tail.js';

const PAGE_ROWS = 50;

export interface LogPage {
  readonly entries: readonly Log[];
  readonly pagination: LogPagination;
  /** When it was asked for: what the next page has to say as well. */
  readonly at: string;
}

/** A page of the log, newest first. */
export function useLogList(search: LogTexts, filter: LogFilter) {
  const { id: tenantId } = useTenant();
  const { range, start_date: from, end_date: to, start, at } = search;
  return useQuery({
    queryKey: ['tenant', tenantId, 'logs', 'list', filter, { range, from, to, start, at }],
    queryFn: async ({ signal }): Promise<LogPage> => {
      const now = Date.now();
      const { data, pagination } = await call('GET /logs', {
        tenantId,
        query: { ...filter, ...boundsOf(search, now), start, size: PAGE_ROWS, include: 'details' },
        signal,
      });
      return { entries: data, pagination, at: at ?? new Date(now).toISOString() };
    },
    placeholderData: keepPreviousData,
  });
}

/** The newest entries, to stand below those that arrive. Asked for once the tail is open, so that none falls between. */
export function useNewest(filter: LogFilter, { wasOpened, gaps }: Pick<TailView, 'wasOpened' | 'gaps'>) {
  const { id: tenantId } = useTenant();
  return useQuery({
    queryKey: ['tenant', tenantId, 'logs', 'newest', filter, gaps],
    queryFn: ({ signal }) =>
      call('GET /logs', { tenantId, query: { ...filter, size: PAGE_ROWS, include: 'details' }, signal }),
    enabled: wasOpened,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    placeholderData: keepPreviousData,
  });
}
