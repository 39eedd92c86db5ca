import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/call.js';
import type { PortalOverview } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Loaded } from '../../ui/loaded.js';
import { PageHeader } from '../../ui/page-header.js';
import { dayAfter } from '../../ui/spans.js';
import { ActivityCard } from './activity.js';
import { FirstSteps } from './first-steps.js';
import { RefusalsCard } from './refusals.js';
import { Tiles } from './tiles.js';
import { TokensByType } from './tokens-by-type.js';
import { TopApplications } from './top-applications.js';

/** What happens in a tenant, and where to look closer. */
export function OverviewPage() {
  const { id, membership } = useTenant();
  const query = useQuery({
    queryKey: ['tenant', id, 'overview'],
    queryFn: ({ signal }) =>
      call('GET /portal/api/tenants/{tenant_id}/overview', { params: { tenant_id: id }, signal }),
  });
  return (
    <>
      <PageHeader
        title="Overview"
        lead={`${membership?.name ?? 'This tenant'} in the last 30 days. Days and months are those of UTC.`}
      />
      <Loaded query={query}>{(overview) => <Parts overview={overview} />}</Loaded>
    </>
  );
}

function Parts({ overview }: { readonly overview: PortalOverview }) {
  const { tokens, activity, refusals, top_applications: applications, first_steps: steps } = overview;
  const span = spanOf(activity);
  return (
    <div className="space-y-6">
      <FirstSteps steps={steps} />
      <Tiles overview={overview} span={span} />
      <ActivityCard activity={activity} span={span} />
      <div className="grid gap-6 xl:grid-cols-2">
        <div className="space-y-6">
          <TopApplications applications={applications} span={span} />
          <RefusalsCard refusals={refusals} />
        </div>
        <TokensByType types={tokens.by_type} />
      </div>
    </div>
  );
}

/** What an address of the log says for the days that are shown. */
function spanOf(days: PortalOverview['activity']) {
  const [first, last] = [days[0], days.at(-1)];
  return first && last ? { start_date: first.date, end_date: dayAfter(last.date) } : {};
}
