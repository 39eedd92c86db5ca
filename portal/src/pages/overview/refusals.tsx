import { useNavigate } from '@tanstack/react-router';
import type { PortalOverview } from '../../api/generated.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Bars } from '../../ui/bars.js';
import { Card } from '../../ui/card.js';
import { CodeLine } from '../../ui/code-line.js';
import { dayAfter, dayText } from '../../ui/spans.js';

/** Requests that were refused; where they are not logged, what would log them. */
export function RefusalsCard({ refusals }: { readonly refusals: PortalOverview['refusals'] }) {
  const navigate = useNavigate();
  const { id: tenantId } = useTenant();
  const { is_logged: isLogged, total, days } = refusals;
  if (!isLogged && total === 0) return <HowToLog />;
  return (
    <Card title="Refusals" lead="Requests that a permission or a rule did not allow.">
      {total === 0 ? (
        <p className="text-sm text-muted">None in the last 30 days.</p>
      ) : (
        <Bars
          label="Refused requests of the last 30 days"
          times={days.map(({ date }) => dayText(date))}
          series={[{ name: 'Refused', values: days.map(({ count }) => count) }]}
          height={96}
          pickHint="Enter shows the refusals of the day"
          onPick={(at) => {
            const day = days[at]?.date;
            if (day === undefined) return;
            const search = { start_date: day, end_date: dayAfter(day), outcome: 'denied' };
            void navigate({ to: '/tenants/$tenantId/logs', params: { tenantId }, search });
          }}
        />
      )}
    </Card>
  );
}

function HowToLog() {
  return (
    <Card
      title="Refusals are not logged"
      lead="With full auditing, each request that is refused has an entry, and so has each read of Applications and settings. Whoever runs this server turns it on for all tenants, in its environment:"
    >
      <CodeLine text="STRONGROOM_AUDIT=full" />
    </Card>
  );
}
