import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTenant } from '../../tenant/use-tenant.js';

/** What the address of the page says. */
export type LogTexts = Readonly<Record<string, string | undefined>>;

/** What narrows the log besides time. */
export const FILTERS = ['entity_type', 'entity_id', 'actor_id', 'operation', 'outcome'] as const;
export type FilterName = (typeof FILTERS)[number];
export type LogFilter = Readonly<Partial<Record<FilterName, string>>>;

export const FILTER_TEXTS: Readonly<Record<FilterName, string>> = {
  entity_type: 'Type',
  entity_id: 'Entity id',
  actor_id: 'Actor id',
  operation: 'Operation',
  outcome: 'Outcome',
};

const HOUR_MS = 3_600_000;

/** Spans that end now. */
export const RANGES: readonly { readonly value: string; readonly text: string; readonly ms: number }[] = [
  { value: '1h', text: 'Last hour', ms: HOUR_MS },
  { value: '24h', text: 'Last 24 hours', ms: 24 * HOUR_MS },
  { value: '7d', text: 'Last 7 days', ms: 7 * 24 * HOUR_MS },
  { value: '30d', text: 'Last 30 days', ms: 30 * 24 * HOUR_MS },
];

/** From when to when, as the calls take it. */
export interface Bounds {
  readonly start_date?: string;
  readonly end_date?: string;
}

const TIMES = { range: undefined, start_date: undefined, end_date: undefined } as const;
/** A page further back belongs to one filter, and to the moment at which the first page was asked for. */
const FIRST_PAGE = { start: undefined, at: undefined } as const;

/** The filter, the range, the page and the open entry: all of it is in the address. */
export function useLogSearch() {
  const { id: tenantId } = useTenant();
  const navigate = useNavigate();
  const search: LogTexts = useSearch({ strict: false });
  const go = (next: LogTexts) =>
    void navigate({ to: '/tenants/$tenantId/logs', params: { tenantId }, search: next, resetScroll: false });
  return {
    search,
    filter: filterOf(search),
    /** Changes nothing but what is named. */
    show: (change: LogTexts) => go({ ...search, ...change }),
    /** Changes the filter: from the first page on, with no entry open. */
    narrow: (change: LogTexts) => go({ ...search, ...FIRST_PAGE, entry: undefined, ...change }),
    /** Changes the range. */
    narrowTimes: (times: LogTexts) => go({ ...search, ...FIRST_PAGE, ...TIMES, entry: undefined, ...times }),
    clear: () => go({ live: search.live }),
  } as const;
}

export type LogSearchUse = ReturnType<typeof useLogSearch>;

function filterOf(search: LogTexts): LogFilter {
  return Object.fromEntries(FILTERS.flatMap((name) => (search[name] ? [[name, search[name]]] : [])));
}

/** A span that ends now is fixed where the first page was asked for, because cursors belong to one filter. */
export function boundsOf({ range, at, start_date: start, end_date: end }: LogTexts, nowMs: number): Bounds {
  const span = RANGES.find(({ value }) => value === range);
  if (start || end || !span) return { ...(start && { start_date: start }), ...(end && { end_date: end }) };
  const fixedMs = at === undefined ? Number.NaN : Date.parse(at);
  return { start_date: new Date((Number.isNaN(fixedMs) ? nowMs : fixedMs) - span.ms).toISOString() };
}

/** The range as people read it. */
export function rangeOf({ range, start_date: start, end_date: end }: LogTexts): string {
  if (start || end) return 'custom';
  return RANGES.some(({ value }) => value === range) ? (range ?? '') : '';
}
