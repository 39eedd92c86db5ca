import { Link } from '@tanstack/react-router';
import type { PortalOverview } from '../../api/generated.js';
import type { LogSearch } from '../../tenant/log-link.js';
import { LogLink } from '../../tenant/log-link.js';
import { useTenant } from '../../tenant/use-tenant.js';
import { Card } from '../../ui/card.js';
import { numberText } from '../../ui/numbers.js';

export interface TopApplicationsProps {
  readonly applications: PortalOverview['top_applications'];
  readonly span: LogSearch;
}

/** Which Applications do most. */
export function TopApplications({ applications, span }: TopApplicationsProps) {
  const most = Math.max(1, ...applications.map(({ count }) => count));
  return (
    <Card title="Busiest Applications" lead="By log entries of the last 30 days.">
      {applications.length === 0 ? (
        <p className="text-sm text-muted">No Application did anything yet.</p>
      ) : (
        <ol className="space-y-4">
          {applications.map((application) => (
            <li key={application.id} className="space-y-1.5 text-sm">
              <div className="flex items-baseline justify-between gap-4">
                <Name application={application} />
                <LogLink
                  search={{ ...span, actor_id: application.id }}
                  label={`${application.name ?? 'Deleted Application'}: ${numberText(application.count)}, show them`}
                  className="py-0.5 tabular-nums"
                >
                  {numberText(application.count)}
                </LogLink>
              </div>
              <div aria-hidden className="h-1.5 overflow-hidden rounded-full bg-line">
                <div
                  className="h-full rounded-full bg-series-1"
                  style={{ width: `${Math.max(1, (application.count / most) * 100)}%` }}
                />
              </div>
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

function Name({ application }: { readonly application: PortalOverview['top_applications'][number] }) {
  const { id: tenantId } = useTenant();
  const { id, name, is_deleted: isDeleted } = application;
  if (isDeleted) {
    return (
      <span className="min-w-0 truncate text-muted">
        Deleted, <span className="font-mono text-[13px]">{id}</span>
      </span>
    );
  }
  const to: string = `/tenants/${tenantId}/applications/${id}`;
  return (
    <Link to={to} className="min-w-0 truncate rounded py-0.5 font-medium hover:text-accent">
      {name}
    </Link>
  );
}
