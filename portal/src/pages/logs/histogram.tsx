import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { PortalLogHistogram } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Bars } from '../../ui/bars.js';
import { Loaded } from '../../ui/loaded.js';
import { numberText } from '../../ui/numbers.js';
import { spanText } from '../../ui/spans.js';
import { useTimes, When } from '../../ui/when.js';
import type { LogSearchUse } from './log-search.js';
import { boundsOf, RANGES, rangeOf } from './log-search.js';

/** How many entries match, over time. A bar opens its own span. */
export function Histogram({ use: { search, filter, narrowTimes } }: { readonly use: LogSearchUse }) {
  const { id } = useTenant();
  const { range, start_date: from, end_date: to, at } = search;
  const query = useQuery({
    queryKey: ['tenant', id, 'logs', 'histogram', filter, { range, from, to, at }],
    queryFn: ({ signal }) =>
      call('GET /portal/api/tenants/{tenant_id}/logs/histogram', {
        params: { tenant_id: id },
        query: { ...filter, ...boundsOf(search, Date.now()) },
        signal,
      }),
    placeholderData: keepPreviousData,
  });
  // What is wrong with the filter is told once, with the list.
  if (query.error !== null && query.data === undefined) return null;
  return (
    <section aria-label="Entries over time" className="rounded-xl border border-line bg-card p-5">
      <Loaded query={query}>
        {(histogram) => <Picture histogram={histogram} span={rangeOf(search)} onPick={narrowTimes} />}
      </Loaded>
    </section>
  );
}

const DAY_SECONDS = 86_400;

interface PictureProps {
  readonly histogram: PortalLogHistogram;
  readonly span: string;
  readonly onPick: LogSearchUse['narrowTimes'];
}

function Picture({ histogram, span, onPick }: PictureProps) {
  const { zone } = useTimes();
  const { buckets, total, is_partial: isPartial, complete_from: completeFrom } = histogram;
  const isAtLeast = (at: number) => isPartial && isBefore(buckets[at]?.from, completeFrom);
  return (
    <div className="space-y-3">
      <p className="text-sm">
        <span className="font-medium tabular-nums">
          {isPartial && 'At least '}
          {numberText(total)} {total === 1 ? 'entry' : 'entries'}
        </span>
        <span className="text-muted">
          {' '}
          {spanWords(span)}
          {histogram.bucket_seconds >= DAY_SECONDS && ', counted by whole days in UTC'}
        </span>
      </p>
      <Bars
        label="Log entries over time"
        times={buckets.map(({ from, to }) => spanText(from, to, zone))}
        series={[{ name: 'Entries', values: buckets.map(({ count }) => count) }]}
        height={96}
        isAtLeast={isAtLeast}
        pickHint="Enter shows this span"
        onPick={(at) => {
          const bucket = buckets[at];
          if (bucket) onPick({ start_date: isoOf(bucket.from), end_date: isoOf(bucket.to) });
        }}
      />
      {isPartial && (
        <p className="text-[13px] text-muted">
          There are more entries than were counted. Paler bars
          {completeFrom !== undefined && (
            <>
              , those before <When at={completeFrom} />,
            </>
          )}{' '}
          may be higher. A shorter range or a narrower filter shows them in full.
        </p>
      )}
    </div>
  );
}

function isBefore(from: string | undefined, completeFrom: string | undefined): boolean {
  return completeFrom === undefined || Date.parse(from ?? '') < Date.parse(completeFrom);
}

/** A plus sign is hard to read in an address. */
function isoOf(date: string): string {
  return new Date(date).toISOString();
}

function spanWords(range: string): string {
  if (range === 'custom') return 'in the chosen time';
  return `in the ${(RANGES.find(({ value }) => value === range)?.text ?? 'Last 30 days').toLowerCase()}`;
}
