import { useNavigate } from '@tanstack/react-router';
import { Activity } from 'lucide-react';
import type { PortalOverview } from '../../api/generated.js';
import type { LogSearch } from '../../tenant/log-link.js';
import { LogLink } from '../../tenant/log-link.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Bars, Swatch } from '../../ui/bars.js';
import { Card } from '../../ui/card.js';
import { EmptyState } from '../../ui/empty-state.js';
import { numberText } from '../../ui/numbers.js';
import { dayAfter, dayText } from '../../ui/spans.js';
import { byOperation } from './by-operation.js';

export interface ActivityCardProps {
  readonly activity: PortalOverview['activity'];
  readonly span: LogSearch;
}

/** What was done, day by day. */
export function ActivityCard({ activity, span }: ActivityCardProps) {
  const navigate = useNavigate();
  const { id: tenantId } = useTenant();
  const operations = byOperation(activity);
  return (
    <Card title="Activity" lead="Log entries by operation. Choose a day to see its entries.">
      {operations.length === 0 ? (
        <EmptyState icon={Activity} title="Nothing was done yet">
          Once an Application makes or reads a token, its days appear here. The first steps show how.
        </EmptyState>
      ) : (
        <div className="grid gap-x-10 gap-y-6 lg:grid-cols-[1fr_15rem]">
          <Bars
            label="Log entries of the last 30 days by operation"
            times={activity.map(({ date }) => dayText(date))}
            series={operations.map(({ text, values }) => ({ name: text, values }))}
            height={200}
            hasLegend={false}
            pickHint="Enter shows the log of the day"
            onPick={(at) => {
              const day = activity[at]?.date;
              if (day === undefined) return;
              const search = { start_date: day, end_date: dayAfter(day) };
              void navigate({ to: '/tenants/$tenantId/logs', params: { tenantId }, search });
            }}
          />
          <ul className="divide-y divide-line text-sm">
            {operations.map(({ operation, text, total }, place) => (
              <li key={text} className="flex items-center gap-2.5 py-2">
                <Swatch place={place} />
                <span className="min-w-0 flex-1 truncate">{text}</span>
                <LogLink
                  search={{ ...span, ...(operation !== undefined && { operation }) }}
                  label={`${text}: ${numberText(total)}, show them`}
                  className="py-0.5 tabular-nums"
                >
                  {numberText(total)}
                </LogLink>
              </li>
            ))}
          </ul>
        </div>
      )}
    </Card>
  );
}
